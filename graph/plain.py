"""Text from outside made fit for a person's eyes: plain for a terminal, inert in a Markdown document.

What a page or a model wrote may hold terminal escapes, text direction tricks, tags and links. Nothing of that may
act where the text is shown; the stored text itself is never altered.
"""

import re

from markdown_it import MarkdownIt

from researchdesk.state.texts import cut

# Control characters beyond ASCII's, and what changes the direction or hides the place of what follows.
_HIDDEN = "\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff"
_CONTROL = re.compile(f"[\x00-\x08\x0b-\x1f{_HIDDEN}]")  # but not tab and line end
_RAW = re.compile(f"[{_HIDDEN}]")
_INLINE = re.compile(r"[\\`*\[\]<>|~]|(?<!\w)_|_(?!\w)|&(?=#?\w+;)")
_LEADING = re.compile(r"^(?:(\d{1,9})([.)])|([#+\-=:!]))")
_WEB = re.compile(r"^https?://[^\s<>\\\"]+$")
# Places where a backslash takes the meaning away: not where one does already.
_LIVE = re.compile(r"(?<!\\)(?:\\\\)*(?=<[A-Za-z/!?]|!\[|&#?\w+;)|(?<=\])(?=[(:])")
# A link of a page, or the attributes of one, in a text that was quoted; what cites, like `[1](…)`, is none.
_CITED = r"(?:\d+|[sc]_\d{3,})"
_TARGET = r"(?:[^()\s]|\([^()\s]*\))"
_LINK = re.compile(
    rf"!?\[(?!{_CITED}(?:[,;] ?{_CITED})*\])([^\[\]\n]+)\]\\?\((?={_TARGET}*[./#:]){_TARGET}+(?: +\"[^\"\n]*\")?\)"
)
_ATTRIBUTES = re.compile(r"[ \t]*\{:[^{}\n]*\}")
_FENCE = re.compile(r"^(?:[ ]{0,3}|.*[>*+-][ ]+)(`{3,}|~{3,})")
_SPAN = re.compile(r"(?<![`\\])(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_LIVE_TOKENS = frozenset({"html_block", "html_inline", "image", "link_open"})


def plain(text: str) -> str:
    """The text without control characters; line ends and tabs stay."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str, *, limit: int = 0) -> str:
    """The text on one line, at most ``limit`` characters (0: all)."""
    folded = " ".join(plain(text).split())
    return cut(folded, limit) if limit else folded


def plain_json(document: str) -> str:
    """The JSON document with such characters escaped: what is parsed from it stays the same."""
    return _RAW.sub(lambda found: f"\\u{ord(found.group()):04x}", document)


def markdown_text(text: str, *, limit: int = 0) -> str:
    """The text as Markdown that shows exactly these words, on one line."""
    escaped = _INLINE.sub(lambda found: "\\" + found.group(), one_line(text, limit=limit))
    return _LEADING.sub(lambda found: f"{found[1] or ''}\\{found[2] or found[3]}", escaped)


def readable(text: str) -> str:
    """A Markdown text for a reader: of links and images only the words, without attributes in braces."""
    code = [span.span() for span in _SPAN.finditer(text)]

    def words(found: re.Match[str]) -> str:
        return found[0] if any(start < found.start() < end for start, end in code) else found[1]

    return _ATTRIBUTES.sub("", _LINK.sub(words, text))


def markdown_code(text: str) -> str:
    """The text as a Markdown code span."""
    shown = one_line(text)
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    mark = "`" * (longest + 1)
    pad = " " if "`" in shown or not shown else ""
    return f"{mark}{pad}{shown}{pad}{mark}"


def markdown_locator(locator: str) -> str:
    """A link for a web address, a code span for everything else."""
    return f"<{locator}>" if _WEB.match(locator) and plain(locator) == locator else markdown_code(locator)


def inert(body: str) -> str:
    """A Markdown body in which no tag, image or link acts, and after which the next heading is one.

    Emphasis, headings, lists, tables and code stay. A written report links to nothing: sources are cited by number,
    so what looks like a link came with a quoted passage, and its words are shown. White space around the body goes.
    """
    text = plain(body).strip()
    safe = "".join(_inert_lines(text))
    if _acts(safe):  # what a reader of lines takes for code need not be code to a parser
        safe = _LIVE.sub("\\g<0>\\\\", readable(text))
    return _closed(safe)


def below(body: str) -> str:
    """An inert body under the heading that it begins with: later ones of the first two levels become third ones.

    So what a section holds cannot begin another part of the document.
    """
    lines = body.split("\n")
    for token in _PARSER.parse(body):
        if (
            token.type == "heading_open"
            and not token.level
            and token.map
            and token.map[0]
            and token.tag < "h3"
        ):
            first, end = token.map
            text = lines[first].strip()
            if token.markup in ("=", "-"):
                lines[end - 1] = ""
            else:
                text = text[len(token.markup) :].strip()
            lines[first] = f"### {text}"
    return "\n".join(lines)


def _inert_lines(text: str) -> list[str]:
    fence = ""
    lines = []
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence:
            lines.append(line)
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            lines.append(line)
            fence = mark[1]
        else:
            lines.append(_inert_line(line))
    return lines


def _inert_line(line: str) -> str:
    line = readable(line)
    parts, before = [], 0
    for span in _SPAN.finditer(line):
        parts += [_LIVE.sub("\\g<0>\\\\", line[before : span.start()]), span.group()]
        before = span.end()
    return "".join([*parts, _LIVE.sub("\\g<0>\\\\", line[before:])])


def _acts(body: str) -> bool:
    env: dict[str, object] = {}
    tokens = _PARSER.parse(body, env)
    return bool(env.get("references")) or any(
        token.type in _LIVE_TOKENS or any(child.type in _LIVE_TOKENS for child in token.children or ())
        for token in tokens
    )


def _closed(body: str) -> str:
    """The body with an open code fence closed, so that a heading after it is one."""
    end = _PARSER.parse(f"{body}\n\n# end\n")[-1]
    return f"{body.rstrip()}\n{end.markup}\n" if end.type == "fence" else body
