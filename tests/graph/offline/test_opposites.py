"""What sentences forbid, require, allow or leave free, and when two of them say the opposite."""

import pytest

from researchdesk.graph.offline.modals import can_read, modal
from researchdesk.graph.offline.opposites import opposed
from researchdesk.graph.offline.question import read_question


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("You SHALL **NOT** do it.", "forbids"),
        ("Verifiers SHOULD NOT require secrets to be changed.", "forbids"),
        ("Avoid periodic changes; instead, encourage users.", "forbids"),
        ("No keys may be shared.", "forbids"),
        ("The lamp may be charged in frost without damage.", "allows"),
        ("Keys must be rotated every year.", "requires"),
        ("Rotation is not required.", "exempts"),
        ("Keys must be kept and must not be shared.", ""),
        ("The tea is hot.", ""),
        ("Passwörter müssen alle 90 Tage geändert werden.", "requires"),
        ("Passwörter müssen nicht geändert werden.", "exempts"),
        ("Passwörter dürfen nicht geteilt werden.", "forbids"),
        ("Les clés ne doivent pas être partagées.", "forbids"),
        ("Las claves deben cambiarse cada año.", "requires"),
        ("Ключи не должны меняться.", "forbids"),
    ],
)
def test_a_sentence_says_what_its_modal_words_say(sentence: str, said: str) -> None:
    assert modal(sentence) == said


def test_languages_without_a_list_of_modal_words_are_known_not_to_be_read() -> None:
    texts = [
        "Keys must be kept.",
        "鍵は共有してはならない。",
        "Hasła muszą być zmieniane co roku.",
        "Schlüssel",
    ]
    assert [can_read(text) for text in texts] == [True, False, False, True]


FROST = "May the K2 be charged below 0 °C?"
KEYS = "Must service keys be rotated?"


@pytest.mark.parametrize(
    ("question", "one", "other", "how"),
    [
        (FROST, "The K2 must not be charged below 0 °C.", "The K2 may be charged at -10 °C without damage.", "clear"),
        (FROST, "The K2 must not be charged below 0 °C.", "The K2 may be charged at 20 °C without damage.", ""),
        (FROST, "The K2 must not be charged below 0 °C.", "The K2 may be charged in the snow.", "unclear"),
        (FROST, "The K2 must not be opened by hand.", "The K2 may be charged in the snow.", ""),
        (KEYS, "Service keys must not be rotated.", "Service keys must be rotated every year.", "clear"),
        (KEYS, "Service keys must be rotated when they leak.", "Service keys must not be rotated.", "unclear"),
        (KEYS, "Service keys must not be shared.", "Service keys must be rotated every year.", ""),
        ("Müssen Passwörter geändert werden?", "Passwörter müssen nicht geändert werden.",
         "Passwörter müssen alle 90 Tage geändert werden.", "clear"),
    ],
)  # fmt: skip
def test_sentences_are_opposed_where_their_modals_rule_the_same_matter(
    question: str, one: str, other: str, how: str
) -> None:
    assert opposed(one, other, read_question(question)) == how
    assert opposed(other, one, read_question(question)) == how
