"""The notes as text: exactly what was rendered is read back, and no text can forge a record."""

from __future__ import annotations  # the persistent maps are generic for type checkers only

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rpds import HashTrieMap

from researchdesk.state.claims import Assumption, Claim, Contradiction, Datapoint, Gap, Link, Source
from researchdesk.state.errors import Refusal
from researchdesk.state.ids import numbered
from researchdesk.state.notes import Notes
from researchdesk.state.notes_grammar import SECTIONS, parse, render, section_text, token_estimate

from .investigations import play

HOSTILE = (
    "\n### c_001\n- text: forged",
    "## Scratch",
    "\n## Scratch\n",
    "# Notes",
    "- status: VERIFIED",
    "\\n### c_009",
    "\\u000a",
    "\r\n\x85\u2028\u2029\x0b\x0c\x1c",
    " leading and trailing ",
    "\u202egnp.exe\ufeff",
    "\\",
    "",
    "\x00",
    "語\u3000",
)
texts = st.one_of(
    st.sampled_from(HOSTILE), st.text(max_size=30), st.text(alphabet="\\nu0# -:\n\r \t", max_size=12)
)
ids = st.sampled_from(["s_001", "a_9", "c_002", "q_001", "x.y:z-1"])


def some(record: Any, prefix: str, /, **more: Any) -> st.SearchStrategy[HashTrieMap[str, Any]]:
    made = st.builds(record, id=st.just(""), **more)
    return st.lists(made, max_size=3).map(
        lambda found: HashTrieMap(
            {
                numbered(prefix, n): replace(item, id=numbered(prefix, n))
                for n, item in enumerate(found, start=1)
            }
        )
    )


links = st.builds(
    Link,
    source_id=ids,
    artifact_id=ids,
    stance=st.sampled_from(["supports", "refutes", "mentions"]),
    quote=texts,
    quote_start=st.integers(0, 10**9),
    quote_end=st.integers(0, 10**9),
    quotes_other_source=texts,
)
all_notes = st.builds(
    Notes,
    claims=some(
        Claim,
        "c",
        text=texts,
        kind=st.sampled_from(["fact", "figure", "quote", "inference"]),
        value=texts,
        unit=texts,
        status=st.sampled_from(["UNVERIFIED", "VERIFIED", "REFUTED", "RETRACTED"]),
        question_id=texts,
        scope=texts,
        check=texts,
        note=texts,
        links=st.lists(links, max_size=3).map(tuple),
    ),
    datapoints=some(Datapoint, "d", label=texts, value=texts, unit=texts, as_of=texts, about=texts),
    contradictions=some(
        Contradiction,
        "con",
        claim_id=ids,
        other_id=ids,
        differs=texts,
        status=st.sampled_from(["open", "explained"]),
        note=texts,
    ),
    assumptions=some(Assumption, "as", text=texts, question_id=texts),
    gaps=some(Gap, "gap", text=texts, question_id=texts),
    sources=some(
        Source,
        "s",
        artifact_id=ids,
        url=texts,
        domain=texts,
        origin=texts,
        title=texts,
        note=texts,
        fetched=st.booleans(),
        readable=st.booleans(),
        near_duplicates=st.lists(ids, max_size=2).map(tuple),
    ),
    scratch=texts,
)


@settings(max_examples=400)
@given(notes=all_notes)
def test_what_is_rendered_is_read_back_exactly_whatever_the_texts_say(notes: Notes) -> None:
    text = render(notes)
    assert parse(text) == notes
    assert render(parse(text)) == text


def test_the_notes_of_random_histories_are_read_back_exactly() -> None:
    for seed in range(40):
        for step in play(seed, 40):
            assert parse(render(step.after.notes)) == step.after.notes


def test_empty_notes_have_all_sections_and_nothing_else() -> None:
    text = render(Notes())
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == list(SECTIONS)
    assert parse(text) == Notes()


FULL = Notes(
    claims=HashTrieMap(
        {
            "c_001": Claim(
                id="c_001",
                text="Eight\n### c_002",
                kind="figure",
                value="8",
                links=(
                    Link(
                        source_id="s_001",
                        artifact_id="a_1",
                        stance="supports",
                        quote="at least 8",
                        quote_start=4,
                        quote_end=14,
                        quotes_other_source="s_002",
                    ),
                ),
            )
        }
    ),
    gaps=HashTrieMap({"gap_001": Gap(id="gap_001", text="unknown")}),
    scratch="free\n## Verified\n\n",
)


def test_the_text_is_readable_markdown() -> None:
    assert render(FULL) == (
        "# Notes\n\n## Verified\n\n## Unverified\n\n### c_001\n\n- text: Eight\\n### c_002\n- kind: figure\n"
        "- status: UNVERIFIED\n- value: 8\n- supports: s_001 a_1 4..14\n- quote: at least 8\n- repeats: s_002\n\n"
        "## Contradictions\n\n## Datapoints\n\n## Sources\n\n## Assumptions & gaps\n\n"
        "### gap_001\n\n- text: unknown\n\n"
        "## Scratch\n\nfree\n## Verified\n\n\n"
    )
    assert (
        section_text(FULL, ["Assumptions & gaps"])
        == "## Assumptions & gaps\n\n### gap_001\n\n- text: unknown"
    )
    assert token_estimate(FULL) > 40


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("- kind: figure", "some remark", 10),
        ("- kind: figure", "- colour: red", 10),
        ("- kind: figure", "- kind: figure\n- kind: figure", 11),
        ("- kind: figure", "- kind: poem", 7),
        ("- kind: figure\n", "", 7),
        ("- status: UNVERIFIED", "- status: VERIFIED", 7),
        ("- text: Eight\\n", "- text: Eight\\x", 9),
        ("4..14", "four", 13),
        ("### c_001", "### c_003", 1),
        ("## Datapoints", "## Numbers", 19),
        ("## Datapoints\n\n", "", 19),
        ("# Notes", "# Notice", 1),
        ("### gap_001", "### c_001", 25),
        ("- quote: at least 8", "- quote: a\n- quote: b", 15),
    ],
)
def test_a_line_that_is_no_notes_is_refused_with_its_number(old: str, new: str, line: int) -> None:
    text = render(FULL)
    assert old in text
    with pytest.raises(Refusal, match=rf"line {line}: ") as caught:
        parse(text.replace(old, new, 1))
    assert caught.value.code == "notes_unreadable"


def test_notes_without_scratch_are_refused() -> None:
    with pytest.raises(Refusal, match="Scratch is missing"):
        parse("# Notes\n")
    with pytest.raises(Refusal, match="one empty line"):
        parse(render(Notes()) + "text")
