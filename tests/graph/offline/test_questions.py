"""What is read from a question, and which words feedback adds to it."""

from researchdesk.graph.offline.feedback import deal, expansion
from researchdesk.graph.offline.language import language_of
from researchdesk.graph.offline.noting import can_be_quoted
from researchdesk.graph.offline.question import read_question
from researchdesk.graph.offline.terms import Rarity, Vocabulary, words


def test_a_question_is_read_into_focus_frame_and_units() -> None:
    question = read_question("What minimum key length do current guidelines require?")
    assert question.focus == ("kei", "length")
    assert "charact" in question.units
    assert question.bounds == {"min", "exact"}


def test_how_many_names_its_own_unit() -> None:
    assert "iter" in read_question("How many iterations are needed?").units


def test_words_that_only_queries_hold_were_learned() -> None:
    question = read_question("password length", queries=["password length", "password length secret"])
    assert question.learned == ("secret",)


def test_words_fold_case_camel_case_and_unspaced_scripts() -> None:
    assert words("maxRetries PBKDF2-HMAC 最小文字") == [
        "max",
        "retries",
        "pbkdf2",
        "hmac",
        "最小",
        "小文",
        "文字",
    ]


def test_the_language_is_told_by_stop_words() -> None:
    texts = ["How is it done?", "Wie wird das gemacht?", "Comment est-ce que c'est fait ?", "x"]
    assert [language_of(text) for text in texts] == ["english", "german", "french", "english"]


def test_rare_terms_count_more() -> None:
    rarity = Rarity.over([["a", "b"], ["a"], ["a"]])
    assert rarity("c") > rarity("b") > rarity("a")


def test_dealing_takes_one_of_each_group_in_turn() -> None:
    assert deal(["a1", "a2", "a3", "b1"], lambda item: item[0], 3) == ["a1", "b1", "a2"]


def test_feedback_learns_the_words_that_several_groups_share() -> None:
    passages = [
        ("one", "A password is a memorized secret of the subscriber."),
        ("two", "Verifiers store the password as memorized secret."),
        ("three", "Every password here is long."),
    ]
    learned = expansion("password rules", passages, vocabulary=Vocabulary("english"), limit=2)
    assert set(learned) == {"memorized", "secret"}


def test_a_text_that_looks_like_a_citation_cannot_be_quoted() -> None:
    assert not can_be_quoted("see [s_001]")
    assert can_be_quoted("see [1]")
