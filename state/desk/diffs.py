"""What a change does to a text, to be shown to whoever decides about it: bounded, and nothing in it hides.

Lines are compared by their longest common subsequence, which takes bounded time and memory whatever the texts are.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from rapidfuzz.distance import LCSseq

from researchdesk.state.desk.a1 import Ref
from researchdesk.state.desk.files import FileKind
from researchdesk.state.desk.grids import Row, read_grid, write_rows
from researchdesk.state.desk.labels import visible
from researchdesk.state.desk.sheets import size_of
from researchdesk.state.texts import cut

MAX_DIFF: Final = 8_000
CONTEXT: Final = 3
_LINE: Final = 1_000
_CELL: Final = 120
_AROUND: Final = 60
_COMPARED: Final = 400_000_000


@dataclass(frozen=True, slots=True)
class _Change:
    """Items ``old_start:old_end`` became ``new_start:new_end``."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def diff_of(old: str, new: str, path: str, *, kind: FileKind = "markdown", limit: int = MAX_DIFF) -> str:
    """A unified diff of two texts, or of two sheets a line for each cell or row; "" if they are equal.

    At most ``limit`` characters; the last line tells how many changes are left out. Characters that nobody sees
    stand as ``<U+202E>``, and of a long line the part around the change is shown.
    """
    if old == new:
        return ""
    if kind == "spreadsheet":
        return _bounded([], _sheet_lines(old, new), limit=limit)
    return _bounded([f"--- {path}", f"+++ {path}"], _text_lines(old, new), limit=limit)


def _text_lines(old: str, new: str) -> Iterator[str]:
    olds, news = _lines(old), _lines(new)
    for hunk in _hunks(_changes(olds, news)):
        before = max(0, hunk[0].old_start - CONTEXT)
        after = min(len(olds), hunk[-1].old_end + CONTEXT)
        shift = hunk[0].new_start - hunk[0].old_start
        end_shift = hunk[-1].new_end - hunk[-1].old_end
        yield f"@@ -{_span(before, after)} +{_span(before + shift, after + end_shift)} @@"
        at = before
        for change in hunk:
            yield from (f" {_shown(line, _LINE)}" for line in olds[at : change.old_start])
            yield from _changed(
                olds[change.old_start : change.old_end], news[change.new_start : change.new_end]
            )
            at = change.old_end
        yield from (f" {_shown(line, _LINE)}" for line in olds[at:after])


def _changed(olds: list[str], news: list[str]) -> Iterator[str]:
    """Lines that go, then lines that come; of two long ones the part where they differ."""
    pairs = [_focused(one or "", other or "") for one, other in zip_longest(olds, news)]
    yield from (f"-{_shown(one, _LINE)}" for one, _ in pairs[: len(olds)])
    yield from (f"+{_shown(other, _LINE)}" for _, other in pairs[: len(news)])


def _focused(one: str, other: str) -> tuple[str, str]:
    if len(one) <= _LINE and len(other) <= _LINE:
        return one, other
    start = _common(one, other)
    end = _common(one[start:][::-1], other[start:][::-1])
    start, end = max(0, start - _AROUND), max(0, end - _AROUND)

    def part(line: str) -> str:
        return f"{'…' * bool(start)}{line[start : len(line) - end]}{'…' * bool(end)}"

    return part(one), part(other)


def _sheet_lines(old: str, new: str) -> Iterator[str]:
    olds, news = read_grid(old), read_grid(new)
    sizes = size_of(olds), size_of(news)
    if sizes[0] != sizes[1]:
        yield f"{sizes[0]} -> {sizes[1]}"
    if len(olds) == len(news):
        yield from _cell_lines(olds, news)
        return
    keys = [[tuple(_trimmed(row)) for row in rows] for rows in (olds, news)]
    for change in _changes(*keys):
        for at in range(change.old_start, change.old_end):
            yield f"- row {at + 1}: {_row(olds[at])}"
        for at in range(change.new_start, change.new_end):
            yield f"+ row {at + 1}: {_row(news[at])}"


def _cell_lines(olds: list[Row], news: list[Row]) -> Iterator[str]:
    for y, (old, new) in enumerate(zip(olds, news, strict=True)):
        if old != new:
            for x, (one, other) in enumerate(zip_longest(old, new, fillvalue="")):
                if one != other:
                    yield f"{Ref(y, x)}: {_cell(one, other)} -> {_cell(other, one)}"


def _cell(value: str, beside: str) -> str:
    """A cell in quotes; of a long one the part where it differs from what it is compared with."""
    if len(value) > _CELL:
        start = max(0, _common(value, beside) - 20)
        value = f"{'…' * bool(start)}{value[start:]}"
    return visible(json.dumps(cut(value, _CELL), ensure_ascii=False))


def _row(row: Row) -> str:
    return _shown(write_rows([_trimmed(row)]).removesuffix("\n").replace("\n", "⏎"), _LINE)


def _trimmed(row: Row) -> Row:
    length = len(row)
    while length > 1 and not row[length - 1]:
        length -= 1
    return row[:length]


def _changes(old: Sequence[object], new: Sequence[object]) -> list[_Change]:
    """Where two sequences differ, in order; as one change if they are too long to be compared item by item."""
    shorter = min(len(old), len(new))
    start = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    end = next((at for at in range(shorter - start) if old[-1 - at] != new[-1 - at]), shorter - start)
    olds, news = old[start : len(old) - end], new[start : len(new) - end]
    if not olds or not news or len(olds) * len(news) > _COMPARED:
        return [_Change(start, start + len(olds), start, start + len(news))] if olds or news else []
    changes: list[_Change] = []
    for code in LCSseq.opcodes(olds, news):
        if code.tag == "equal":
            continue
        spot = _Change(
            start + code.src_start, start + code.src_end, start + code.dest_start, start + code.dest_end
        )
        if changes and (changes[-1].old_end, changes[-1].new_end) == (spot.old_start, spot.new_start):
            last = changes.pop()
            spot = _Change(last.old_start, spot.old_end, last.new_start, spot.new_end)
        changes.append(spot)
    return changes


def _hunks(changes: list[_Change]) -> Iterator[list[_Change]]:
    """Changes whose surroundings touch stand together."""
    hunk: list[_Change] = []
    for change in changes:
        if hunk and change.old_start - hunk[-1].old_end > 2 * CONTEXT:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def _bounded(head: list[str], body: Iterator[str], *, limit: int) -> str:
    """As many lines as fit, and how many changes are missing."""
    kept, room = [], limit - 60 - sum(len(line) + 1 for line in head)
    left = 0
    for line in body:
        room -= len(line) + 1
        if room >= 0 and not left:
            kept.append(line)
        elif not line.startswith((" ", "@@")):
            left += 1
            room = -1
    note = [f"… {left:,} more changed {'line is' if left == 1 else 'lines are'} not shown"] if left else []
    return "\n".join([*head, *kept, *note]) + "\n"


def _lines(text: str) -> list[str]:
    """The lines of a text; a missing line end at the end is part of its last line."""
    lines = text.split("\n")
    if not lines[-1]:
        return lines[:-1]
    return [*lines[:-1], f"{lines[-1]}\n\\ No newline at end of file"]


def _span(start: int, end: int) -> str:
    return f"{start + 1 if end > start else start},{end - start}"


def _common(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginnings."""
    shorter = min(len(one), len(other))
    return next((at for at in range(shorter) if one[at] != other[at]), shorter)


def _shown(line: str, limit: int) -> str:
    text, newline, note = line.partition("\n")
    return cut(visible(text), limit) + newline + note
