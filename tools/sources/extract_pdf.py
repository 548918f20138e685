"""PDF to text, page by page, by PDFium."""

from threading import Lock
from typing import Any

from researchdesk.tools.sources.extracted import Parsed, check_size, clean
from researchdesk.tools.sources.ports import FetchRefused, Section

EXTRACTOR = "pypdfium2"
_pdfium = Lock()  # PDFium may not be entered by two threads, not even for two documents
_MAX_PAGES = 10_000


def pdf_version() -> str:
    """Give the version of the library."""
    import pypdfium2  # type: ignore[import-untyped]

    return str(pypdfium2.version.PYPDFIUM_INFO)


def parse_pdf(raw: bytes, *, name: str) -> Parsed:
    """Give the text of all pages, a section a page, the title from the metadata.

    Raises:
        FetchRefused: ``fetch_unreadable`` (broken, locked, no text layer), ``fetch_too_large``.
    """
    import pypdfium2

    with _pdfium:
        try:
            document = pypdfium2.PdfDocument(raw)
        except pypdfium2.PdfiumError as error:
            locked = "password" in str(error).lower()
            cause = "is locked with a password" if locked else "is not a PDF that can be read"
            raise FetchRefused("fetch_unreadable", f"{name!r} {cause}") from None
        try:
            pages = _pages(document, name)
            title = clean(str(document.get_metadata_dict().get("Title", ""))).strip()
        except pypdfium2.PdfiumError:
            raise FetchRefused("fetch_unreadable", f"{name!r} has a page that cannot be read") from None
        finally:
            document.close()
    if not any(page.strip() for page in pages):
        raise FetchRefused(
            "fetch_unreadable", f"{name!r} has no text layer: it consists of pictures of pages"
        )
    return _joined(pages, title or None)


def _pages(document: Any, name: str) -> list[str]:
    if len(document) > _MAX_PAGES:
        raise FetchRefused(
            "fetch_too_large", f"{name!r} has {len(document):,} pages; at most {_MAX_PAGES:,} are read"
        )
    pages: list[str] = []
    characters = 0
    for index in range(len(document)):
        page = document[index]
        text_page = page.get_textpage()
        text = clean(text_page.get_text_range()).replace(
            "\ufffe", ""
        )  # PDFium's mark of a hyphen at a line's end
        text_page.close()
        page.close()
        characters += len(text) + 2
        check_size(characters, name)
        pages.append(text.strip("\n"))
    return pages


def _joined(pages: list[str], title: str | None) -> Parsed:
    sections: list[Section] = []
    start = 0
    for number, page in enumerate(pages, start=1):
        sections.append(Section(title=f"page {number}", start=start, end=start + len(page), page=number))
        start += len(page) + 2
    return Parsed(text="\n\n".join(pages), title=title, sections=tuple(sections))
