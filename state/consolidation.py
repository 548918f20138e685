"""Keeping the notes within their size: records stay as they are, the free text of the scratch section gives way."""

from dataclasses import replace

from researchdesk.state.notes import Notes
from researchdesk.state.notes_grammar import token_estimate
from researchdesk.state.settling import ATOMIC
from researchdesk.state.tokens import estimate_tokens


def consolidated(notes: Notes, most: int) -> Notes:
    """The notes with the newest lines of the scratch that let them stay within ``most`` estimated tokens.

    The statement that the objective is atomic always stays, and so does every record: one that a prompt has no room for
    is read by its id.
    """
    if not notes.scratch or token_estimate(notes) <= most:
        return notes
    room = most - token_estimate(replace(notes, scratch=""))
    kept: list[str] = []
    for line in reversed(notes.scratch.splitlines()):
        room -= estimate_tokens(line) + 1
        if room >= 0 or line.startswith(ATOMIC):
            kept.append(line)
    return replace(notes, scratch="\n".join(reversed(kept)))
