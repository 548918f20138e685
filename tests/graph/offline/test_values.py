"""Numbers read as values, and values set side by side."""

import pytest

from researchdesk.graph.offline.compare import Evidence, compare, stance
from researchdesk.graph.offline.question import read_question
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
        ("If 3 attempts fail, lock for 10 minutes.", [("10 minutes", "exact")]),
    ],
)
def test_a_number_has_a_unit_and_a_bound(sentence: str, expected: list[tuple[str, str]]) -> None:
    assert [(value.shown, value.bound) for value in values(sentence, vocabulary=ENGLISH)] == expected


def evidence(text: str, source: str, origin: str) -> Evidence:
    return Evidence(text, "Backups", source, origin, source, 1.0, 1.0)


@pytest.mark.parametrize(
    ("other", "origin", "kind"),
    [
        ("Keep backups at least 90 days.", "b.org", "contradiction"),
        ("Keep backups at least 30 days, better at least 90 days.", "b.org", "values differ"),
        ("Keep backups at least 90 days.", "a.org", "editions differ"),
        ("Keep backups at least 30 days.", "b.org", "agreement"),
    ],
)
def test_values_of_documents_are_compared_by_publisher(other: str, origin: str, kind: str) -> None:
    question = read_question("How many days must backups be kept?")
    both = [evidence("Keep backups at least 30 days.", "s_001", "a.org"), evidence(other, "s_002", origin)]
    assert [one.kind for one in compare(both, question)] == [kind]


def test_nothing_is_compared_where_no_quantity_is_asked_for() -> None:
    both = [evidence("Keep 30 days.", "s_001", "a.org"), evidence("Keep 90 days.", "s_002", "b.org")]
    assert compare(both, read_question("Why are backups encrypted?")) == []


def test_a_stance_follows_modal_words_and_negation() -> None:
    assert [stance(text) for text in ("You SHALL **NOT** do it.", "You should do it.", "It rains.")] == [
        "against",
        "for",
        "",
    ]
