"""How a command ends: its exit codes, and each error as one message on stderr."""

import os
import sys
import traceback
from enum import IntEnum

from researchdesk.graph.plain import one_line, plain
from researchdesk.graph.streams import Unbreakable
from researchdesk.state.cleaning import safe_error
from researchdesk.state.errors import IntegrityError, LedgerCorrupt, ResearchdeskError, UsageError

DEBUG_VARIABLE = "RESEARCHDESK_DEBUG"


class Exit(IntEnum):
    """The exit codes of every command."""

    COMPLETED = 0
    FAILED = 1
    """Refused or failed."""
    USAGE = 2
    UNFINISHED = 3
    """A run that ended blocked or partial, or was stopped."""
    INTEGRITY = 4
    """Stored bytes are not what was recorded."""


def exit_code(problem: BaseException) -> Exit:
    """The exit code that an error ends a command with."""
    if isinstance(problem, UsageError):
        return Exit.USAGE
    if isinstance(problem, LedgerCorrupt | IntegrityError):
        return Exit.INTEGRITY
    return Exit.FAILED


def error_text(problem: BaseException) -> str:
    """The error for a person: what the package says on purpose in full, anything else short and redacted."""
    if isinstance(problem, ResearchdeskError):
        return "\n".join(one_line(line) for line in plain(str(problem)).splitlines())
    return f"unexpected error: {one_line(safe_error(problem))}. {DEBUG_VARIABLE}=1 shows where it came from"


def tell_error(problem: BaseException) -> Exit:
    """Print the error on stderr, with its traceback when ``RESEARCHDESK_DEBUG`` is set; returns the exit code."""
    stderr = Unbreakable(sys.stderr)
    if os.environ.get(DEBUG_VARIABLE, "") not in ("", "0"):
        print("".join(traceback.format_exception(problem)), file=stderr)
    print(f"researchdesk: {error_text(problem)}", file=stderr, flush=True)
    return exit_code(problem)
