"""What the status of an answer means for the reader: the page, a refusal of which kind, somewhere else."""

from collections.abc import Mapping

from researchdesk.tools.sources.ports import FetchRefused
from researchdesk.tools.sources.web.challenges import challenged_by

MOVED = frozenset([301, 302, 303, 307, 308])


def refusal_of(status: int, headers: Mapping[str, str], *, shown: str) -> FetchRefused | None:
    """Give the refusal that a status stands for; None for a page or a redirect."""
    if status in MOVED and headers.get("location"):
        return None
    if status in (204, 205):
        return FetchRefused("fetch_empty", f"{shown} has no content (status {status})")
    if 200 <= status < 300 and status != 206:
        return None
    if status in (404, 410):
        gone = "is gone" if status == 410 else "does not exist"
        return FetchRefused("fetch_not_found", f"{shown} {gone} (status {status})")
    if status == 408:
        return FetchRefused("fetch_timeout", f"{shown} gave up waiting (status 408)")
    if 400 <= status < 500:
        cause = (
            "checks whether its reader is a person" if challenged_by(headers) else "refuses to show the page"
        )
        return FetchRefused("fetch_blocked", f"{shown} {cause} (status {status})")
    if status >= 500:
        return FetchRefused(
            "fetch_unreadable", f"the server of {shown} failed (status {status})", transient=True
        )
    return FetchRefused("fetch_unreadable", f"{shown} answers with status {status}, which is no page")
