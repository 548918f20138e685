"""How an objective is split, and which sentences say the same."""

import pytest

from researchdesk.graph.offline.asking import children_of, content_of
from researchdesk.graph.offline.sentences import says_again, supports
from researchdesk.graph.offline.terms import Vocabulary
from researchdesk.state.sameness import same_question

AGREE = "Do the publishers agree on this: "


@pytest.mark.parametrize(
    ("objective", "content"),
    [
        (
            "What minimum length is required, and do they agree?",
            ["What minimum length is required?"],
        ),
        ("How are keys stored? Why are they rotated?", ["How are keys stored?", "Why are they rotated (keys stored)?"]),
        (
            "Under which terms may I copy it, and what notices are required?",
            ["Under which terms may I copy it?", "What notices are required?"],
        ),
        ("If keys leak, must they go?", ["What do the sources say on this: If keys leak, must they go?"]),
        (
            "Should keys be shared?",
            ["What do the sources require or advise on this: Should keys be shared?"],
        ),
        ("How many keys are needed?", ["Which values do the sources tell on this: How many keys are needed?"]),
        ("鍵は共有してよいですか？", ["What do the sources say on this: 鍵は共有してよいですか？"]),
        ("We run a shop. Which keys are allowed?", ["Which keys are allowed?"]),
    ],
)  # fmt: skip
def test_an_objective_is_split_into_its_questions_and_one_about_agreement(
    objective: str, content: list[str]
) -> None:
    *own, agreement = children_of(objective, most=10)
    assert own == content
    assert agreement == f"{AGREE}{'; '.join(map(content_of, content))}"
    assert not any(same_question(text, objective) for text in [*own, agreement])


def test_where_two_questions_have_no_room_none_is_added() -> None:
    assert children_of("Should keys be shared?", most=1) == []


ENGLISH = Vocabulary("english")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Backups shall be encrypted at rest.", "Backups shall be **encrypted** at rest", True),
        ("Backups shall be encrypted at rest.", "Backups shall be archived at rest.", False),
        ("Backups shall be encrypted at rest.", "Backups should be encrypted at rest.", False),
        ("Keep backups for six months.", "Keep backups for nine months.", False),
        ("Rotate the keys daily.", "Rotate the keys weekly.", False),
    ],
)
def test_a_source_supports_a_claim_only_in_the_same_words_that_matter(
    one: str, other: str, same: bool
) -> None:
    assert supports(one, other, ENGLISH) is same


def test_numbers_between_unspaced_words_make_another_sentence() -> None:
    assert not says_again("最小文字数は12文字とする。", ["最小文字数は8文字とする。"])
