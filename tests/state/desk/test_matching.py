"""A query is shown where most of it stands together, at its very place."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from researchdesk.state.desk.a1 import Ref
from researchdesk.state.desk.matching import AROUND, STRETCH, Matcher
from researchdesk.state.desk.paging import line_at, page
from researchdesk.state.desk.sheets import set_cells
from researchdesk.state.errors import Refusal
from researchdesk.state.queries import parse_literal_query, parse_query
from researchdesk.state.texts import cut_around


def matcher(query: str) -> Matcher:
    parsed = parse_literal_query(query)
    assert parsed is not None
    return Matcher(parsed)


def places(text: str, query: str, *, limit: int = 1) -> list[str]:
    return [text[found.first : found.end] for found in matcher(query).stretches(text, limit=limit)]


TEXT = (
    "The tide comes in.\nNothing here.\nHigh tides and low tides of spring.\n"
    "Die PRÜFUNG der Größe ist nötig.\n研究方法はとても重要です。İstanbul (v1.2-rc) costs 100 %.\n"
)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("spring tide", "tides and low tides of spring"),
        ("running", None),
        ("TIDE", "tide"),
        ("prüfungen Größe", "Größe"),
        ("Prufung größ", "PRÜFUNG der Größ"),
        ("方法", "方法"),
        ("とても重要", "とても重要"),
        ("v1.2-rc", "v1.2-rc"),
        ("100 %", "100 %"),
        ("%", "%"),
        ("istanbul", "İstanbul"),
    ],
)
def test_the_stretch_that_holds_most_of_the_query_is_found(query: str, found: str | None) -> None:
    assert places(TEXT, query) == ([found] if found else [])


def test_the_best_stretches_come_first_and_do_not_overlap() -> None:
    text = "tide\n" + "x " * 200 + "\nspring tide\n" + "y " * 200 + "\nspring tide again\n"
    found = matcher("spring tide").stretches(text, limit=5)
    assert [text[one.first : one.end] for one in found] == ["spring tide", "spring tide"]
    assert len(matcher("spring tide").stretches(text, limit=1)) == 1


def test_a_line_of_any_length_is_shown_in_part() -> None:
    text = "needle " + "hay " * 100_000 + "needle and thread"
    (found,) = matcher("needle thread").stretches(text, limit=3)
    assert text[found.first : found.end] == "needle and thread"
    assert cut_around(text, found.first, found.end, more=12) == "…hay hay hay needle and thread"


def test_a_cell_is_named_by_its_place() -> None:
    sheet = set_cells("", [("A1", "name"), ("C3", 'He said "tide",\nand went'), ("B9", "=SUM(B2:B8)")])
    assert [(str(ref), cell) for ref, cell, _ in matcher("tide").cells(sheet, limit=3)] == [
        ("C3", 'He said "tide", and went')
    ]
    ((ref, cell, found),) = matcher("=sum(b2").cells(sheet, limit=3)
    assert (ref, cell[found.first : found.end]) == (Ref(8, 1), "=SUM(B2")
    assert matcher("no such").cells("", limit=3) == []
    with pytest.raises(Refusal):
        matcher("x").cells('"open', limit=3)


letters = st.text(st.sampled_from("ab tide\nÜüß研究方İ1,\"'%"), max_size=400)


@given(text=letters, query=letters)
def test_every_stretch_is_a_part_of_one_line_within_its_bounds(text: str, query: str) -> None:
    parsed = parse_literal_query(query)
    if parsed is None:
        assert not query.strip() and parse_query(query) is None
        return
    kept = Matcher(parsed).stretches(text, limit=5)
    for found in kept:
        assert 0 <= found.first < found.end <= len(text)
        assert "\n" not in text[found.first : found.end].strip("\n")
        assert found.end - found.first <= STRETCH + max(map(len, (*parsed.trigrams, *parsed.words, "piece")))
        line = line_at(text, found.first)
        shown = page(text, from_line=line, max_lines=1, limit=10_000).text
        assert text[found.first] in shown
    ordered = sorted(kept, key=lambda one: one.first)
    assert all(one.end + AROUND <= other.first for one, other in pairwise(ordered))
