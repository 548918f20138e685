"""A report never says the opposite of its sources: small corpora in which publishers differ."""

from collections.abc import Callable

import pytest
from tests.graph.offline.runs import Run

Researched = Callable[..., Run]
ORIGINS = {"a/": "a.org", "b/": "b.org", "c/": "c.org"}
LAMP = {
    "a/manual.md": "# Kestrel K2 manual\n\nThe Kestrel K2 battery lasts 12 hours on a full charge. The K2 must not be "
    "charged below 0 °C. The K2 supports 4 charge ports.\n\n## Charging\n\nA full charge takes 90 minutes.\n",
    "b/test.md": "# Test of the Kestrel K2\n\nThe Kestrel K2 battery lasted 8 hours in our test, not 12 hours. The K2 "
    "may be charged at -10 °C without damage.\n",
    "c/guide.md": "# Operations guide\n\nThe Kestrel K2 must not be charged below 0 °C. A full charge takes 90 "
    "minutes.\n",
}


def differing(run: Run) -> list[str]:
    return [one.differs for one in run.investigation.notes.contradictions.values()]


def outcomes(run: Run, words: str) -> set[str]:
    return {
        c.outcome
        for claim in run.claims
        if words in claim.text
        for c in run.investigation.challenges.of(claim.id)
    }


def test_only_values_of_the_thing_that_is_asked_for_are_compared(researched: Researched) -> None:
    run = researched(LAMP, "How long does the Kestrel K2 battery last?", origins=ORIGINS)
    assert differing(run) == ["a.org says 12 hours; b.org says 8 hours"]
    assert run.questions[2].answer == f"No. {differing(run)[0]}"
    assert outcomes(run, "12 hours on") == outcomes(run, "lasted 8 hours") == {"weakened"}
    takeaways = run.drafts["key_takeaways"]
    assert "lasts 12 hours" in takeaways
    assert "lasted 8 hours" in takeaways
    assert "90 minutes" not in takeaways


def test_what_one_publisher_forbids_and_another_allows_is_a_contradiction(researched: Researched) -> None:
    run = researched(LAMP, "May the K2 be charged below 0 °C?", origins=ORIGINS)
    told = "Publishers word it differently: a.org forbids it, b.org allows it, c.org forbids it: read both"
    assert differing(run) == [told]
    assert run.questions[2].answer == told
    assert outcomes(run, "charged at -10") == outcomes(run, "must not be charged") == {"weakened"}
    assert run.questions[1].answer.startswith(
        "By their modal words 2 of 5 quoted sentences reject it, 1 asks for"
    )
    assert "No contradiction" not in run.report


@pytest.mark.parametrize(
    ("question", "one", "other", "told"),
    [
        ("Must service keys be rotated?", "Service keys must be rotated every year.",
         "Service keys must not be rotated.",
         "Publishers word it differently: a.org requires it, b.org forbids it: read both"),
        ("Is the vaccine safe for children?", "The vaccine is safe for children.",
         "The vaccine is not safe for children.",
         "Publishers word it differently: a.org says that it is so, b.org says that it is not so: read both"),
        ("When was the old bridge built?", "The old bridge was built in 1931.", "The old bridge was built in 1957.",
         "Publishers word it differently: a.org tells 1931, b.org tells 1957: read both"),
        ("Do tourists need a visa?", "Tourists need a visa to enter the country.",
         "Tourists do not need a visa to enter the country.",
         "Publishers word it differently: a.org requires it, b.org does not ask for it: read both"),
        ("Müssen Passwörter geändert werden?", "Passwörter müssen alle 90 Tage geändert werden.",
         "Passwörter müssen nicht geändert werden.",
         "Publishers word it differently: a.org requires it, b.org does not ask for it: read both"),
        ("Wie lang müssen Passwörter mindestens sein?", "Passwörter müssen mindestens 12 Zeichen lang sein.",
         "Passwörter müssen mindestens 8 Zeichen lang sein.",
         "a.org requires at least 12 Zeichen; b.org requires at least 8 Zeichen"),
    ],
)  # fmt: skip
def test_opposed_sentences_are_contradictions(
    researched: Researched, question: str, one: str, other: str, told: str
) -> None:
    run = researched(
        {"a/x.md": f"# Rules\n\n{one}\n", "b/y.md": f"# Policy\n\n{other}\n"}, question, origins=ORIGINS
    )
    assert differing(run) == [told]
    assert {c.outcome for c in run.challenges if c.target_kind == "claim"} == {"weakened"}


def test_opposed_wordings_with_a_condition_are_told_without_a_verdict(researched: Researched) -> None:
    texts = {
        "a/x.md": "# Drones\n\nDrones may be flown over crowds when the pilot has a permit.\n",
        "b/y.md": "# Drone rules\n\nDrones must not be flown over crowds.\n",
    }
    run = researched(texts, "May drones be flown over crowds?", origins=ORIGINS)
    assert differing(run) == []
    assert run.questions[2].answer == (
        "Publishers word it differently: a.org allows it, b.org forbids it (whether of the same case, rules cannot "
        "tell): read both"
    )
    assert {c.outcome for c in run.challenges if c.target_kind == "claim"} == {"inconclusive"}


def test_further_values_of_a_document_are_not_hidden_behind_an_agreement(researched: Researched) -> None:
    kept = "Backups must be kept for 90 days."
    texts = {"a/k.md": f"# One\n\n{kept}\n", "b/k.md": f"# Two\n\n{kept}\n"}
    texts["c/k.md"] = f"# Three\n\n{kept} Backups must be kept for 30 days on tapes.\n"
    run = researched(texts, "How many days must backups be kept?", origins=ORIGINS)
    assert run.questions[2].answer.startswith(
        "Values differ: a.org requires 90 days; b.org requires 90 days; c.org"
    )
    assert "30 days" in run.questions[2].answer
    assert "Only" not in run.drafts["disagreements_and_gaps"]


def test_one_publisher_alone_does_not_agree(researched: Researched) -> None:
    texts = {
        "a/x.md": "# Locks\n\nSessions must end after 12 hours.\n",
        "a/y.md": "# Sessions\n\nSessions must end after 12 hours at most.\n",
        "b/z.md": "# Sessions\n\nSessions must end some day, a session must never stay open.\n",
    }
    run = researched(texts, "After how many hours must sessions end?", origins=ORIGINS)
    assert run.questions[2].answer.startswith("Only a.org tells a value")


def test_what_survived_says_what_was_looked_for_and_how_little(researched: Researched) -> None:
    texts = {
        "a/x.md": "# Keys\n\nKeys must be kept.\n",
        "b/y.md": "# Keys\n\nKeys are made of metal in our shop.\n",
    }
    run = researched(texts, "Must keys be kept?", origins=ORIGINS)
    told = {c.evidence for c in run.challenges if c.outcome == "survived" and c.target_kind == "claim"}
    assert told
    assert all("Looked at: 2 passages (" in text and "Looked for: " in text for text in told)


def test_a_language_whose_modal_words_are_not_known_is_said_not_to_be_read(researched: Researched) -> None:
    texts = {
        "a/x.md": "# 鍵\n\n鍵は毎年交換しなければならない。\n",
        "b/y.md": "# 規則\n\n鍵は毎年交換してはならない。\n",
    }
    run = researched(texts, "鍵は毎年交換する必要がありますか？", origins=ORIGINS)
    assert "Opposed wordings are not recognised in this language" in run.report
