"""Keeping the notes within their size: records stay as they are, the free text of the scratch section gives way."""

from dataclasses import replace

from researchdesk.state.notes import Notes
from researchdesk.state.notes_grammar import token_estimate
from researchdesk.state.settling import ATOMIC
from researchdesk.state.tokens import estimate_tokens

LEAST_SHARE = 8
"""Of the notes' size one part in so many is the scratch's own, however large the records have become."""


def consolidated(notes: Notes, most: int) -> Notes:
    """The notes with the newest lines of the scratch that let them stay within ``most`` estimated tokens.

    Where the records alone come near it or beyond, the scratch keeps one part in `LEAST_SHARE` of ``most``.
    The statement that the objective is atomic always stays, and so does every record: one that a prompt has no room for
    is read by its id.
    """
    if not notes.scratch or token_estimate(notes) <= most:
        return notes
    room = max(most // LEAST_SHARE, most - token_estimate(replace(notes, scratch="")))
    kept: list[str] = []
    for line in reversed(notes.scratch.splitlines()):
        room -= estimate_tokens(line) + 1
        if room >= 0 or line.startswith(ATOMIC):
            kept.append(line)
    return replace(notes, scratch="\n".join(reversed(kept)))
