"""Word documents to Markdown: paragraphs, headings, lists and tables in their order, by python-docx."""

import io
import zipfile
from collections.abc import Mapping
from typing import TYPE_CHECKING

from researchdesk.tools.sources.extracted import Parsed, clean
from researchdesk.tools.sources.markup import markdown_headings, sections_of, title_of
from researchdesk.tools.sources.ports import FetchRefused

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table
    from docx.text.paragraph import Paragraph

EXTRACTOR = "python-docx"
MAX_UNPACKED = 200_000_000
_MAX_PART = 60_000_000
_MAX_PARTS = 5_000


def docx_version() -> str:
    """Give the version of the library."""
    import docx

    return str(docx.__version__)


def parse_docx(raw: bytes, *, name: str) -> Parsed:
    """Give the document as Markdown.

    Raises:
        FetchRefused: ``fetch_unreadable``, or ``fetch_too_large`` for what unpacks to too much.
    """
    _check_archive(raw, name)
    import docx

    try:
        document = docx.Document(io.BytesIO(raw))
        styles = {style.style_id: style.name or "" for style in document.styles}
        blocks = [_block(block, styles) for block in document.iter_inner_content()]
    except (
        Exception
    ) as error:  # python-docx lets through whatever zip, XML and key errors a broken file causes
        raise FetchRefused("fetch_unreadable", f"{name!r} is not a Word document that can be read") from error
    text = clean("\n\n".join(block for block in blocks if block.strip()))
    headings = list(markdown_headings(text))
    stated = _stated_title(document)
    return Parsed(
        text=text, title=stated or title_of(text, headings), sections=sections_of(headings, length=len(text))
    )


def _check_archive(raw: bytes, name: str) -> None:
    """Refuse a bomb by its directory; a reader stops at the sizes that stand there."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        raise FetchRefused("fetch_unreadable", f"{name!r} is not a Word document that can be read") from None
    sizes = [part.file_size for part in parts if not part.filename.startswith("word/media/")]
    if len(parts) > _MAX_PARTS or sum(sizes) > MAX_UNPACKED or max(sizes, default=0) > _MAX_PART:
        raise FetchRefused(
            "fetch_too_large", f"{name!r} unpacks to {sum(sizes):,} bytes; that is too much to read"
        )


def _stated_title(document: "Document") -> str:
    title = clean(document.core_properties.title or "").strip()
    return "" if title.lower() in ("word document", "document") else title


def _block(block: "Paragraph | Table", styles: Mapping[str, str]) -> str:
    from docx.text.paragraph import Paragraph

    return _paragraph(block, styles) if isinstance(block, Paragraph) else _table(block)


def _paragraph(paragraph: "Paragraph", styles: Mapping[str, str]) -> str:
    # Its own look-up of a style searches all of them, for each paragraph.
    style = styles.get(paragraph._p.style or "", "")
    text = paragraph.text.strip()
    if not text:
        return ""
    if style == "Title":
        return f"# {text}"
    if style.startswith("Heading ") and style[8:].isdigit():
        return f"{'#' * min(int(style[8:]), 6)} {text}"
    return f"- {text}" if style.startswith("List ") else text


def _table(table: "Table") -> str:
    rows = [[" ".join(cell.text.split()).replace("|", "\\|") for cell in row.cells] for row in table.rows]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if lines:
        lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines)
