"""The process that makes text of pages: each comes on stdin, and its text or the reason against it goes to stdout.

It is begun by `reading`, ends with its stdin, and bounds its memory and the processor time of each page by itself, so
that it outlives nobody for long.
"""

import contextlib
import json
import os
import resource
import sys
from dataclasses import dataclass, replace
from typing import BinaryIO

from pydantic import TypeAdapter

from researchdesk.state.cleaning import safe_error
from researchdesk.tools.sources.extract import extract
from researchdesk.tools.sources.extracted import MAX_SECTIONS, Extracted
from researchdesk.tools.sources.ports import FetchRefused

LENGTH_BYTES = 8
_MEMORY = 2_000_000_000
_KEPT_MEMORY = 600_000_000
"""A process that once took more than this is not used again: what it took is not given back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A page's text, or code and words of a refusal; ``spent`` where the process is not to be used again."""

    found: Extracted | None = None
    refusal: tuple[str, str] = ("", "")
    spent: bool = False


ANSWER = TypeAdapter(Answer)


def main() -> None:
    """Read pages until stdin ends."""
    pages, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a library prints
    with contextlib.suppress(ValueError, OSError):  # macOS has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    while line := pages.readline():
        about = json.loads(line)
        raw = pages.read(about["size"])
        if len(raw) < about["size"]:
            return
        _limit_time(about["seconds"])
        _send(_answer(raw, name=about["name"], media_type=about["media_type"]), answers)


def _limit_time(seconds: float) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    ends = int(used.ru_utime + used.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (ends, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _answer(raw: bytes, *, name: str, media_type: str) -> Answer:
    try:
        found = extract(raw, name=name, media_type=media_type)
        return Answer(found=replace(found, sections=found.sections[:MAX_SECTIONS]), spent=_is_spent())
    except FetchRefused as refusal:
        return Answer(refusal=(refusal.code, refusal.text), spent=_is_spent())
    except MemoryError:
        return Answer(
            refusal=("fetch_too_large", f"{name!r} takes too much memory to make text of"), spent=True
        )
    except Exception as problem:
        cause = f"{name!r} cannot be taken apart ({safe_error(problem)})"
        return Answer(refusal=("fetch_unreadable", cause), spent=True)


def _is_spent() -> bool:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit > _KEPT_MEMORY


def _send(answer: Answer, answers: BinaryIO) -> None:
    body = ANSWER.dump_json(answer)
    answers.write(len(body).to_bytes(LENGTH_BYTES))
    answers.write(body)
    answers.flush()


if __name__ == "__main__":
    main()
