"""Numbers read as values, and values set side by side."""

import pytest

from researchdesk.graph.offline.compare import Evidence, compare, stance
from researchdesk.graph.offline.question import read_question
from researchdesk.graph.offline.sources import work_of
from researchdesk.graph.offline.terms import Vocabulary
from researchdesk.graph.offline.values import values

ENGLISH = Vocabulary("english")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Keys shall be at least 8 characters long.", [("8 characters", "min")]),
        ("At least 8 bits although a minimum of 15 bits is better.", [("8 bits", "min"), ("15 bits", "min")]),
        ("Verify that keys of at least 64 bits are permitted.", [("64 bits", "permit")]),
        ("A maximum length of at least 64 characters.", [("64 characters", "permit")]),
        ("Wait no more than 30 days.", [("30 days", "max")]),
        ("Use 600,000 iterations.", [("600,000 iterations", "exact")]),
        ("iterations ≥ 600,000", [("600,000", "min")]),
        ("Retry five times or more.", [("five times", "min")]),
        ("See Section 5.2.2, RFC 9106 and SHA-256 of 2021.", []),
        ("Give users time (e.g., 1 hour) to save.", []),
        ("Clients may send 100 requests per minute.", [("100 requests per minute", "exact")]),
        ("Up to 250 requests/minute are allowed.", [("250 requests per minute", "max")]),
        ("If 3 attempts fail, lock for 10 minutes.", [("10 minutes", "exact")]),
    ],
)
def test_a_number_has_a_unit_and_a_bound(sentence: str, expected: list[tuple[str, str]]) -> None:
    assert [(value.shown, value.bound) for value in values(sentence, vocabulary=ENGLISH)] == expected


def test_a_value_is_as_binding_as_the_modal_word_nearest_to_it() -> None:
    text = "Verify that keys have at least 8 bits although a minimum of 15 bits is strongly recommended."
    assert [value.strength for value in values(text, vocabulary=ENGLISH)] == ["required", "recommended"]


def evidence(text: str, source: str, origin: str, work: str = "") -> Evidence:
    return Evidence(text, "Backups", source, origin, source, 1.0, 1.0, 1.0, work)


DAYS = "How many days must backups be kept?"


@pytest.mark.parametrize(
    ("other", "origin", "kind"),
    [
        ("Backups must be kept at least 90 days.", "b.org", "contradiction"),
        ("Backups should be kept at least 90 days.", "b.org", "values differ"),
        ("Backups must be kept at least 30 days, better at least 90 days.", "b.org", "values differ"),
        ("Backups must be kept at least 90 days.", "a.org", "documents differ"),
        ("Backups should be kept at least 30 days.", "b.org", "agreement"),
    ],
)
def test_values_of_documents_are_compared_by_publisher_and_strength(
    other: str, origin: str, kind: str
) -> None:
    first = evidence("Backups must be kept at least 30 days.", "s_001", "a.org")
    assert [one.kind for one in compare([first, evidence(other, "s_002", origin)], read_question(DAYS))] == [
        kind
    ]


def test_documents_agree_only_where_each_strength_has_one_value_told_twice() -> None:
    both = "Keys must have at least 8 bits, a minimum of 15 bits is recommended."
    question = read_question("What minimum key length is required?")
    told = [evidence(both, "s_001", "a.org"), evidence(both, "s_002", "b.org")]
    assert [one.kind for one in compare(told, question)] == ["agreement"]
    told[1] = evidence("Keys must have at least 8 bits.", "s_002", "b.org")
    assert [one.kind for one in compare(told, question)] == ["values differ"]
    # Twice, but by one publisher: the other one does not say so.
    told.append(evidence(both, "s_003", "a.org"))
    assert [one.kind for one in compare(told, question)] == ["values differ"]


def test_only_versions_of_one_work_are_editions() -> None:
    texts = ("Backups must be kept at least 30 days.", "Backups must be kept at least 90 days.")
    works = [work_of(path) for path in ("guide-2/en/3-keep.md", "guide-3-draft/en/4-keep.md")]
    assert works[0] == works[1] != ""
    told = [evidence(texts[0], "s_001", "a.org", works[0]), evidence(texts[1], "s_002", "a.org", works[1])]
    assert [one.kind for one in compare(told, read_question(DAYS))] == ["editions differ"]
    assert work_of("notes/keep.md") == ""


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        (
            "How thick must the glass be?",
            "Glass must be at least 12 millimetres thick.",
            "Glass must be at least 10 mm thick.",
        ),
        (
            "What is the rate limit of the API?",
            "The API allows 100 requests per minute.",
            "The API is limited to 250 requests per minute.",
        ),
        (
            "How many requests per minute may an API client send?",
            "An API client may send 100 requests per minute.",
            "The API client limit is 250 requests per minute.",
        ),
    ],
)
def test_values_in_other_units_are_seen_to_conflict(question: str, one: str, other: str) -> None:
    told = [evidence(one, "s_001", "a.org"), evidence(other, "s_002", "b.org")]
    assert [found.kind for found in compare(told, read_question(question))] == ["contradiction"]


@pytest.mark.parametrize("cell", ["acme,backups,30,days", "30 days", "backups | 30 | days | 7 | days"])
def test_a_bare_number_in_a_cell_or_a_list_is_no_statement(cell: str) -> None:
    told = [
        evidence("Backups must be kept at least 90 days.", "s_001", "a.org"),
        evidence(cell, "s_002", "b.org"),
    ]
    assert compare(told, read_question(DAYS)) == []


def test_nothing_is_compared_where_no_quantity_is_asked_for() -> None:
    both = [evidence("Keep 30 days.", "s_001", "a.org"), evidence("Keep 90 days.", "s_002", "b.org")]
    assert compare(both, read_question("Why are backups encrypted?")) == []


def test_a_stance_follows_modal_words_and_negation() -> None:
    assert [stance(text) for text in ("You SHALL **NOT** do it.", "You should do it.", "It rains.")] == [
        "against",
        "for",
        "",
    ]
