"""The commands `questions` and `claims`: what they show of an investigation, and how a person steers it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from researchdesk.graph import cli
from researchdesk.tools.workspace import Desk, open_desk

from ...tools.investigate.scripts import (
    COUNTER,
    NEGATION,
    NIST,
    OWASP,
    QUERY,
    SLOW,
    ask,
    challenge,
    figure,
    investigator,
    link,
    verified,
)


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli.app, [str(part) for part in arguments])


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A desk with an investigation of one verified claim, one that is not, and a failed challenge."""
    folder = tmp_path / "home"
    with open_desk(folder) as desk:
        caller = investigator(desk, "s1")
        verified(caller)
        ask(caller, "Which characters have to be allowed?", priority=70, depends_on=["q_002"])
        once = figure(link("s_002", "Shorter than 8 characters is weak"))
        caller.ok("notes_append", section="Unverified", entries=[once])
        caller.ok("challenge", **challenge(target="c_002", query=COUNTER, strategy="counterexample"))
        assert caller.refused("search_sources", query=COUNTER) == "search_rate_limited"
        caller.ok("record_challenge_result", challenge_id="ch_002", outcome="inconclusive")
        assert caller.refused("archive_source", locator=SLOW) == "fetch_timeout"
    yield folder


def test_questions_are_shown_as_a_tree_with_status_attempts_and_what_they_wait_for(home: Path) -> None:
    shown = call("questions", "--home", home).stdout.splitlines()
    assert [line.split()[0] for line in shown[1:]] == ["q_001", "·", "·"]
    assert "in_progress" in shown[2] and "3 (1 failed)  2, 1 challenged, 1 verified" in shown[2]
    assert (
        "pending" in shown[3]
        and "q_002" in shown[3]
        and shown[3].endswith("Which characters have to be allowed?")
    )
    assert call("questions", "s1", "--home", home).stdout.splitlines() == shown
    rows = call("questions", "s1", "--attempts", "--home", home).stdout.splitlines()
    assert [line.split() for line in rows[1:3]] == [line.split() for line in shown[1:3]]
    assert len(rows) == len(shown) + 6
    assert re.fullmatch(rf"· \S+ +search +2 +{QUERY} -> .*", rows[3])
    assert re.fullmatch(
        rf"· \S+ +challenge ch_001 +1 +{NEGATION} -> .* -> survived: It only says how\.", rows[6]
    )
    assert re.fullmatch(
        rf"· \S+ +challenge ch_002 +failed +{COUNTER} -> .*Too many requests.* -> inconclusive/infrastructure",
        rows[7],
    )
    found = json.loads(call("questions", "s1", "--json", "--home", home).stdout)
    assert [(q["id"], q["status"], q["waits_for"]) for q in found] == [
        ("q_001", "in_progress", []),
        ("q_002", "in_progress", []),
        ("q_003", "pending", ["q_002"]),
    ]
    tried = [(a["kind"], a["results"], a["cause"]) for a in found[1]["attempts"]]
    assert tried == [
        ("search", 2, ""),
        ("fetch", 1, ""),
        ("fetch", 1, ""),
        ("challenge", 1, ""),
        ("challenge", 0, "infrastructure"),
        ("fetch", 0, "infrastructure"),
    ]
    assert found[1]["attempts"][1]["query"] == NIST
    assert [attempt["challenge"] for attempt in found[1]["attempts"][2:5]] == [
        None,
        {"outcome": "survived", "evidence": "It only says how."},
        {"outcome": "inconclusive/infrastructure", "evidence": ""},
    ]


def test_long_answers_are_cut_in_the_table_and_the_objective_counts_the_claims_under_it(home: Path) -> None:
    long = "eight " * 100
    with open_desk(home) as desk:
        done = desk.existing("s1").call(
            "resolve_question",
            {"question_id": "q_002", "answer": long, "claim_ids": ["c_001"], "reason": "It is one number."},
            tool_call_id="answer",
        )
        assert done.status == "success", done.text
    root, answered = call("questions", "--home", home).stdout.splitlines()[1:3]
    assert "2, 1 challenged, 1 verified" in root
    assert answered.endswith(f" -> {long[:119]}…")
    assert json.loads(call("questions", "--json", "--home", home).stdout)[1]["answer"] == long.strip()
    working = json.loads(call("status", "--json", "--home", home).stdout)["question_in_progress"]
    assert working == {"id": "q_001", "text": "What should a password policy demand?"}


def test_claims_are_shown_with_their_independence_and_its_reasons(home: Path) -> None:
    with open_desk(home) as desk:
        session = desk.existing("s1")
        assert [claim.status for claim in session.claims] == ["VERIFIED", "UNVERIFIED"]
    said = call("claims", "--home", home)
    assert said.stderr == (
        "checked 1 of 2 claims; 1 verified; 1 of 1 needs another independent source, "
        "1 of 1 needs a survived challenge\n"
    )
    shown = said.stdout.splitlines()
    assert "ch_001 direct_negation: survived (It only says how.)" in shown[1]
    assert (
        "VERIFIED" in shown[1] and "s_001, s_002  2 links, 2 origins" in shown[1] and "survived" in shown[1]
    )
    assert "ch_002 counterexample: inconclusive/infrastructure" in shown[2]
    assert "1 link, 1 origin" in shown[2] and "needs 1 more survived challenge" in shown[2]
    first, second = json.loads(call("claims", "--json", "--home", home).stdout)
    assert [cluster["source_ids"] for cluster in first["independent"]] == [["s_001"], ["s_002"]]
    assert first["lacks"] == [] and second["lacks"][0].startswith(
        "needs 1 more independent supporting source"
    )
    assert (
        second["supporting"] == ["s_002"]
        and second["links"][0]["quote"] == "Shorter than 8 characters is weak"
    )
    assert OWASP.startswith("https://")


def test_a_person_adds_prunes_and_reprioritizes_questions_in_their_own_name(home: Path) -> None:
    added = call("questions", "add", "Who sets the rules?", "--priority", "80", "--home", home)
    assert added.exit_code == 0, added.stderr
    assert "q_004" in added.stdout and "q_004  pending, priority 80" in added.stderr
    assert call("questions", "priority", "q_003", "5", "--why", "later", "--home", home).exit_code == 0
    assert (
        call("questions", "prune", "q_004", "--reason", "known", "--session", "s1", "--home", home).exit_code
        == 0
    )
    with open_desk(home) as desk:
        rows = desk.ledger.query(
            "SELECT question_id, trigger FROM frontier_transitions WHERE actor = 'user' ORDER BY question_id, seq"
        )
        assert [tuple(row.values()) for row in rows] == [
            ("q_003", "reprioritized"),
            ("q_004", "created"),
            ("q_004", "pruned"),
        ]
        assert desk.existing("s1").frontier.questions["q_003"].priority == 5
        assert desk.verify().ok


def test_what_the_rules_refuse_a_person_is_one_line_and_writes_nothing(home: Path) -> None:
    before = call("questions", "--json", "--home", home).stdout
    refused = call("questions", "add", "How long has a password to be", "--home", home)
    assert refused.exit_code != 0
    assert 'q_002 (in_progress) asks the same: "How long has a password to be?"' in refused.stderr
    assert call("questions", "prune", "q_001", "--reason", "enough", "--home", home).exit_code != 0
    assert call("questions", "--json", "--home", home).stdout == before


def test_a_session_without_an_investigation_is_told_so(desk: Desk) -> None:
    for command in ("questions", "claims"):
        shown = call(command, "r1", "--home", desk.home)
        assert shown.exit_code != 0 and "session 'r1' keeps no questions and claims" in shown.stderr


def test_the_status_counts_questions_claims_challenges_and_coverage(home: Path) -> None:
    view = json.loads(call("status", "--json", "--home", home).stdout)
    assert view["questions"] == {"in_progress": 2, "pending": 1}
    assert view["claims"] == {"UNVERIFIED": 1, "VERIFIED": 1}
    assert view["challenges"] == {"open": 0, "infrastructure": 1, "survived": 1}
    assert view["question_in_progress"] == {"id": "q_002", "text": "How long has a password to be?"}
    assert view["coverage"] == {
        "challenged": 1,
        "total": 2,
        "verified": 1,
        "by_question": [{"question_id": "q_002", "challenged": 1, "total": 2, "verified": 1}],
    }
    shown = [line.rstrip() for line in call("status", "--home", home).stdout.splitlines()]
    at = shown.index("questions   2 in work, 1 not begun")
    assert shown[at + 1 : at + 4] == [
        "            now q_002: How long has a password to be?",
        "claims      checked 1 of 2 claims; 1 verified",
        "challenges  0 open, 1 could not be searched, 1 survived",
    ]
