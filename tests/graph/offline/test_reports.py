"""What a reader finds in a report: the sentences that answer, under the question that they answer, and counts."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.graph.offline.runs import Run, run_of, write

import researchdesk as rd

Researched = Callable[..., Run]
ORIGINS = {"a/": "a.org", "b/": "b.org"}
KEYS = {
    "a/keys.md": "# Keys\n\nService keys must not be shared. Keys are made of metal. Service keys must be rotated "
    "every year.\n",
    "b/rules.md": "# Key rules\n\nService keys should never be shared with others. Service keys must be rotated every "
    "year, and the old ones are kept in a safe.\n",
}


def test_the_sentence_that_answers_opens_the_report_though_its_words_are_common(
    researched: Researched,
) -> None:
    texts = {
        "README.md": "# Ledger\n\nEvery step is an event in an append-only ledger: kill the process at any moment and "
        "`resume` goes on with nothing lost.\n\n## Tests\n\nOne command makes sure that all checks run: style, "
        "types, imports and tests.\n\n```bash\npython3 -m venv .venv && .venv/bin/pip install . && .venv/bin/ledger "
        "run\n```\n",
        "docs/style.md": "# Style\n\nWe make sure that every run of the style checks is the same.\n",
    }
    run = researched(texts, "How do we make sure that a killed run can go on?")
    first = next(line for line in run.drafts["key_takeaways"].splitlines() if line.startswith("- "))
    assert "append-only ledger: kill the process" in first
    assert "venv/bin" not in run.report


def test_a_yes_or_no_question_is_answered_by_a_count_in_plain_words(researched: Researched) -> None:
    run = researched(KEYS, "Should service keys be shared?", origins=ORIGINS)
    told = "By their modal words 2 of 4 quoted sentences reject it, 2 say neither"
    assert run.questions[1].answer.startswith(told)
    assert f"- {told} [c_" in run.drafts["key_takeaways"]


def test_a_sentence_that_binds_something_else_is_not_counted_for_the_question(researched: Researched) -> None:
    texts = {
        "a/x.md": "# Calls\n\nCalls by radio as an accepted channel are restricted and should be deprecated.\n",
        "b/y.md": "# Channel\n\nAn accepted channel must be encrypted. A channel should have an owner, "
        "accepted by all.\n",
    }
    run = researched(texts, "Is radio still an accepted channel?", origins=ORIGINS)
    assert "reject" in run.questions[1].answer.split(".")[0]
    assert "ask for or allow" not in run.report
    assert "asks for or allows" not in run.report


def test_several_questions_have_their_best_claims_each_under_its_question(researched: Researched) -> None:
    run = researched(KEYS, "Should service keys be shared? What are keys made of?", origins=ORIGINS)
    shared, made = run.drafts["key_takeaways"].split("**What are keys made of?**")
    assert "must not be shared" in shared.split("**Should service keys be shared?**")[1]
    assert "made of metal" in made
    assert "not sourced" not in run.report


def test_a_question_that_repeats_another_one_is_answered_with_it(tmp_path: Path) -> None:
    write(tmp_path / "corpus", KEYS, ORIGINS)
    with rd.open_desk(tmp_path / "home") as desk:
        question = "Should service keys be shared?"
        rd.run_research(
            desk, question, corpus=[tmp_path / "corpus"], scope="quick", session_id="s", max_steps=1
        )
        desk.existing("s").steering.add("Should the service keys be shared with other people?")
        ended = rd.resume_research(desk, "s", max_steps=100)
        run = run_of(desk, ended.status, "")
    assert run.status == "completed"
    assert "No passage" not in run.report


@pytest.mark.parametrize("question", ["What is scrypt?", "Was ist scrypt?"])
def test_what_a_thing_is_is_told_by_the_sentence_that_defines_it(
    researched: Researched, question: str
) -> None:
    texts = {
        "a/x.md": "# Scrypt\n\nUse scrypt with a salt for passwords. Scrypt must be used with a cost of 16.\n",
        "b/y.md": "# Terms\n\nScrypt is a function that derives keys from passwords. Every password needs a salt.\n",
    }
    report = researched(texts, question, origins=ORIGINS).drafts["key_takeaways"]
    first = next(line for line in report.splitlines() if line.startswith("- "))
    assert "is a function that derives keys" in first


def test_where_nothing_is_verified_the_report_says_why(researched: Researched) -> None:
    gaps = researched(KEYS, "Should service keys be shared?", origins=ORIGINS).drafts[
        "disagreements_and_gaps"
    ]
    assert "joins only sentences that say nearly the same" in gaps
    assert gaps.count("word rules") == 1


@pytest.mark.parametrize("question", ["Wie lange hält der Akku durch?", "Quelle est la couleur du ciel ?"])
def test_a_question_in_a_language_that_no_document_speaks_is_told_to_be_asked_in_theirs(
    researched: Researched, question: str
) -> None:
    run = researched(KEYS, question, origins=ORIGINS)
    assert run.status == "blocked"
    assert "no word of the question occurs in the documents" in run.blocked_reason
    assert "ask in theirs" in run.blocked_reason


def test_the_handoff_asks_in_few_words_and_restates_no_quotes(researched: Researched) -> None:
    run = researched(KEYS, "Should service keys be shared?", origins=ORIGINS)
    (ended,) = [call.arguments for call in run.calls if call.tool == "deep_research_complete"]
    assert [line.split(":")[0] for line in ended["implementation_tasks"]] == ["Does this apply here"]
    assert len(ended["verification_commands"]) == 4
    assert ended["verification_commands"][-1].startswith(
        "Compare the quotes with the archived texts of Key rules"
    )
