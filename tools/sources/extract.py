"""Bytes of a document to the text that is archived, by media type, with libraries that are kept up.

| kind | how |
|---|---|
| Markdown, reStructuredText, plain text, source code, CSV, JSON, YAML, TOML, XML | decoded, else unchanged |
| HTML | the main text as Markdown |
| PDF | text by page |
| Word (docx) | paragraphs, headings and tables as Markdown |
| Jupyter notebook | prose, code and printed output as Markdown |
"""

import re
from pathlib import PurePosixPath

from researchdesk.tools.sources import extract_docx, extract_html, extract_notebook, extract_pdf
from researchdesk.tools.sources.decode import Decoded, decode, is_binary
from researchdesk.tools.sources.extracted import MAX_TEXT, Extracted, Parsed, check_size
from researchdesk.tools.sources.markup import headings_of, sections_of, title_of
from researchdesk.tools.sources.ports import FetchRefused

__all__ = ["MAX_TEXT", "Extracted", "extract", "media_type_of"]

HTML = "text/html"
PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
NOTEBOOK = "application/x-ipynb+json"
MARKDOWN = "text/markdown"
RST = "text/x-rst"
TEXT_VERSION = "1"

_BY_SUFFIX = {
    **dict.fromkeys((".md", ".markdown", ".mdx", ".mdown", ".mkd", ".qmd", ".rmd"), MARKDOWN),
    **dict.fromkeys((".html", ".htm", ".xhtml", ".shtml"), HTML),
    **dict.fromkeys((".yaml", ".yml"), "application/yaml"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson", ".geojson"), "application/json"),
    **{".rst": RST, ".pdf": PDF, ".docx": DOCX, ".ipynb": NOTEBOOK, ".toml": "application/toml"},
    **{
        ".csv": "text/csv",
        ".tsv": "text/tab-separated-values",
        ".xml": "application/xml",
        ".py": "text/x-python",
    },
}
_GENERAL = ("", "text/plain", "application/octet-stream", "binary/octet-stream", "application/x-unknown")
_SAME = {
    "application/xhtml+xml": HTML,
    "text/x-markdown": MARKDOWN,
    "application/x-pdf": PDF,
    "text/prs.fallenstein.rst": RST,
}
_WITHOUT_TEXT = ("image/", "audio/", "video/", "font/", "model/")
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*<(?:!doctype\s+html|html[\s>])",
    re.IGNORECASE | re.DOTALL,
)


def extract(raw: bytes, *, name: str, media_type: str = "") -> Extracted:
    """Make text from a document's bytes.

    Args:
        raw: the document, whole.
        name: its file name or path; decides the kind where the media type is general.
        media_type: as the sender declared it, with or without ``; charset=…``.

    Raises:
        FetchRefused: ``fetch_unreadable`` (no text in this format, broken, no text layer), ``fetch_empty``,
            ``fetch_too_large`` (more than `MAX_TEXT` characters, or unpacks to too much).
    """
    if not raw:
        raise FetchRefused("fetch_empty", f"{name!r} is empty")
    kind = media_type_of(raw, name=name, media_type=media_type)
    charset = _charset_of(media_type)
    if kind == PDF:
        found = _of(
            extract_pdf.parse_pdf(raw, name=name), PDF, extract_pdf.EXTRACTOR, extract_pdf.pdf_version()
        )
    elif kind == DOCX:
        found = _of(
            extract_docx.parse_docx(raw, name=name), DOCX, extract_docx.EXTRACTOR, extract_docx.docx_version()
        )
    elif kind.startswith(_WITHOUT_TEXT) or is_binary(raw):
        raise FetchRefused("fetch_unreadable", f"{name!r} ({kind}) is a format without text that can be read")
    elif kind == HTML:
        decoded = extract_html.decode_html(raw, declared=charset)
        parsed = extract_html.parse_html(decoded.text)
        found = _of(parsed, HTML, extract_html.EXTRACTOR, extract_html.html_version(), decoded)
    else:
        found = _text(decode(raw, declared=charset), kind)
    check_size(len(found.text), name)
    if not found.text.strip():
        raise FetchRefused("fetch_empty", f"{name!r} holds no text")
    return found


def media_type_of(raw: bytes, *, name: str, media_type: str = "") -> str:
    """Decide what a document is: its first bytes, then what was declared, then its name."""
    declared = media_type.partition(";")[0].strip().lower()
    declared = _SAME.get(declared, declared)
    if raw[:64].lstrip().startswith(b"%PDF-"):
        return PDF
    if declared == PDF and b"%PDF-" not in raw[:1024]:
        declared = ""  # often the page that says why there is no PDF
    if raw.startswith(b"PK\x03\x04") and b"word/document.xml" in raw:
        return DOCX
    named = _BY_SUFFIX.get(PurePosixPath(name.lower()).suffix, "")
    if declared == "application/json" and named == NOTEBOOK:
        return NOTEBOOK
    if declared not in _GENERAL:
        return declared
    if named:
        return named
    return HTML if _HTML_START.match(raw, 0, 2048) else "text/plain"


def _charset_of(media_type: str) -> str:
    found = re.search(r"charset\s*=\s*[\"']?([A-Za-z0-9_:.\-]{2,40})", media_type, re.IGNORECASE)
    return found[1] if found else ""


def _text(decoded: Decoded, kind: str) -> Extracted:
    if kind == NOTEBOOK:
        notebook = extract_notebook.parse_notebook(decoded.text)
        if notebook is not None:
            return _of(notebook, kind, extract_notebook.EXTRACTOR, extract_notebook.VERSION, decoded)
    headings = headings_of(decoded.text, media_type=kind)
    title = title_of(decoded.text, headings) if kind in (MARKDOWN, RST) else None
    parsed = Parsed(text=decoded.text, title=title, sections=sections_of(headings, length=len(decoded.text)))
    return _of(parsed, kind, "text", TEXT_VERSION, decoded)


def _of(parsed: Parsed, kind: str, extractor: str, version: str, decoded: Decoded | None = None) -> Extracted:
    return Extracted(
        text=parsed.text,
        title=parsed.title[:500] if parsed.title else None,
        sections=parsed.sections,
        media_type=kind,
        charset=decoded.charset if decoded else "",
        extractor=extractor,
        extractor_version=version,
        readable=decoded.readable if decoded else True,
        note=decoded.note if decoded else "",
    )
