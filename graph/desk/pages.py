"""What a model is shown of a reading: the recorded page, or a longer one of the same version."""

from researchdesk.state.envelopes import open_envelope
from researchdesk.state.errors import IntegrityError, NotFound, UsageError
from researchdesk.state.limits import RESULT_TOKENS
from researchdesk.tools.desk.reading import longer_page
from researchdesk.tools.door import Session, ToolResult

MOST_PAGE_TOKENS = 4_000


def check_page_tokens(tokens: int) -> None:
    """Check how much of a file one reading may give a model.

    Raises:
        UsageError: less than a result has, or too much for a message.
    """
    if not RESULT_TOKENS <= tokens <= MOST_PAGE_TOKENS:
        raise UsageError(f"read_page_tokens={tokens}: it is {RESULT_TOKENS:,} to {MOST_PAGE_TOKENS:,}")


def page_of(session: Session, result: ToolResult, *, max_lines: int, tokens: int) -> str:
    """The text of a result of `desk_read_file` with as many lines as ``tokens`` take.

    It stays as recorded where that is the whole file or all that was asked for, or where the version cannot be read.
    """
    opened = open_envelope(result.text)
    if tokens <= RESULT_TOKENS or opened is None or not result.data.get("truncated"):
        return result.text
    try:
        return longer_page(
            result.data,
            max_lines=max_lines,
            read=session.records.text,
            boundary=opened.boundary,
            tokens=tokens,
        )
    except (ValueError, NotFound, IntegrityError):
        return result.text
