"""HTML to Markdown: the main text of a page by trafilatura, all of its text where that finds too little."""

import re
from typing import Any

from researchdesk.tools.sources.decode import Decoded, decode
from researchdesk.tools.sources.extracted import Parsed, clean
from researchdesk.tools.sources.markup import markdown_headings, sections_of

EXTRACTOR = "trafilatura"
# What is larger goes the plain way: lists, tables and inline marks cost the square of their number.
_MAX_ELEMENTS = 60_000
_MAX_LISTS = 3_000
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.\-]{2,40})", re.IGNORECASE)
_XML_CHARSET = re.compile(rb"<\?xml[^>]{0,200}encoding\s*=\s*[\"']([A-Za-z0-9_:.\-]{2,40})", re.IGNORECASE)
_XML_HEAD = re.compile(r"^\s*<\?xml[^>]*\?>")
_UNSEEN = ("script", "style", "noscript", "template", "svg", "iframe", "object", "head")
_BLOCKS = (
    *(
        "address",
        "article",
        "aside",
        "blockquote",
        "br",
        "dd",
        "div",
        "dl",
        "dt",
        "figcaption",
        "figure",
        "footer",
    ),
    *(
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "main",
        "nav",
        "ol",
        "option",
        "p",
        "pre",
    ),
    *("section", "table", "td", "th", "tr", "ul"),
)


def html_version() -> str:
    """Give the version of the library."""
    import trafilatura

    return str(trafilatura.__version__)


def decode_html(raw: bytes, *, declared: str = "") -> Decoded:
    """Decode a page by the header's charset and its own, as any text otherwise."""
    found = _META_CHARSET.search(raw, 0, 4096) or _XML_CHARSET.search(raw, 0, 512)
    stated = found[1].decode("ascii") if found else ""
    # Markup that could be searched for its charset is in none of two or four bytes.
    return decode(
        raw, declared=declared, stated="utf-8" if stated[:4].lower() in ("utf-", "ucs-") else stated
    )


def parse_html(page: str) -> Parsed:
    """Give the main text as Markdown, its title from ``<title>``, else the first heading."""
    markup = _XML_HEAD.sub("", page)
    tree = _tree(markup)
    everything = _all_text(tree)
    main = clean(_main_text(markup)) if _is_moderate(tree) else ""
    text = main if len(main) >= 200 or len(main) * 3 >= len(everything) else everything
    headings = list(markdown_headings(text))
    return Parsed(text=text, title=_title(tree), sections=sections_of(headings, length=len(text)))


def _main_text(markup: str) -> str:
    import trafilatura

    try:
        found = trafilatura.extract(markup, output_format="markdown", include_tables=True, favor_recall=True)
    except Exception:  # a parser fault on hostile markup: all of the page's text is still to be had
        return ""
    return found or ""


def _is_moderate(tree: Any) -> bool:
    lists = sum(1 for _ in tree.iter("ul", "ol", "dl", "table"))
    return lists <= _MAX_LISTS and sum(1 for _ in tree.iter()) <= _MAX_ELEMENTS


def _tree(markup: str) -> Any:
    from lxml import etree, html

    parser = html.HTMLParser(encoding="utf-8", huge_tree=True, no_network=True)
    try:
        return html.document_fromstring(markup.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return html.document_fromstring("<html><body></body></html>")


def _title(tree: Any) -> str | None:
    for path in ("//head//title", "//title", "//h1"):
        for element in tree.xpath(path)[:1]:
            if words := " ".join(clean("".join(element.itertext())).split()):
                return words
    return None


def _all_text(tree: Any) -> str:
    """Give all visible text, a line for each block."""
    pieces: list[str] = []
    hidden = 0
    from lxml import etree

    for event, element in etree.iterwalk(tree, events=("start", "end", "comment", "pi")):
        if event in ("comment", "pi"):
            pieces.append("" if hidden else element.tail or "")
            continue
        unseen, block = element.tag in _UNSEEN, element.tag in _BLOCKS
        if event == "start":
            hidden += unseen
            pieces += ["\n"] * block + ([] if hidden else [element.text or ""])
        else:
            hidden -= unseen
            pieces += ["\n"] * block + ([] if hidden else [element.tail or ""])
    lines = (" ".join(line.split()) for line in clean("".join(pieces)).split("\n"))
    return "\n".join(line for line in lines if line)
