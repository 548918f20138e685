"""`researchdesk fork` and `falls`: going on from an earlier event, and what a source or a challenge carries."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import researchdesk as rd
from researchdesk.graph import upkeep
from researchdesk.graph.cli import app

from ..investigators import VERIFIED, investigate, player, resolve, to_report

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("history") / "home"
    patch = pytest.MonkeyPatch()
    patch.setattr(upkeep, "BACKOFF_SECONDS", 0.0)
    with rd.open_desk(folder) as desk:
        investigate(desk, player(*VERIFIED, [resolve("q_001", "c_001")], [to_report()]))
    patch.undo()
    return folder


@pytest.fixture
def run(home: Path) -> Run:
    return lambda *words: CliRunner().invoke(app, [*words, "--home", str(home)])


def test_a_fork_is_named_by_where_it_begins_and_can_be_looked_at(run: Run) -> None:
    done = run("fork", "s", "--at", "20")
    assert (done.exit_code, done.stdout) == (0, "s-at-20\n")
    assert "`researchdesk resume s-at-20` goes on with it" in done.stderr
    assert len(run("events", "s-at-20").stdout.splitlines()) == 21
    named = json.loads(run("fork", "s", "--at", "7", "--as", "mine", "--json").stdout)
    assert named == {"session_id": "mine", "forked_from": "s", "forked_seq": 7}
    assert "1 of s. It holds no research." in run("fork", "s", "--at", "1", "--as", "early").stderr
    assert run("verify").exit_code == 0


@pytest.mark.parametrize("command", ["fork", "falls"])
def test_help_names_the_last_event_as_the_default(run: Run, command: str) -> None:
    told = " ".join(run(command, "--help").stdout.split())
    assert "Default: the last. [1<=x" in told and "default: 0" not in told
    assert run(command, "s", "--at", "0").exit_code == 2


def test_a_claim_that_was_not_verified_falls_when_nothing_supports_it_any_more(run: Run) -> None:
    events = run("events", "s").stdout.splitlines()[1:]
    first_challenge = next(seq for seq, line in enumerate(events, 1) if "challenge_recorded" in line)
    both = ("falls", "s", "--at", str(first_challenge - 1), "--without", "s_001", "--without")
    assert "UNVERIFIED, no support left" in run(*both, "s_002").stdout
    assert "UNVERIFIED, fewer origins" in run(*both, "s_001").stdout


def test_what_falls_is_listed_from_the_claim_to_the_sentence(run: Run) -> None:
    done = run("falls", "s", "--without", "s_001")
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["what", "loss", "why", "text"]
    assert rows[0].split(maxsplit=2)[:2] == ["c_001", "falls"] and "VERIFIED -> UNVERIFIED" in rows[0]
    assert rows[1].split()[:3] == ["q_001", "falls", "c_001"]
    assert len(rows) > 2 and all("[c_001]" in row for row in rows[2:])
    sentences = f"{len(rows) - 2} sentence{'' if len(rows) == 3 else 's'}"
    assert done.stderr == f"1 claim, 1 answer and {sentences} lose support\n"
    same = json.loads(run("falls", "s", "--flip", "ch_001=refuted", "--json").stdout)
    assert [(claim["id"], claim["after"]) for claim in same["claims"]] == [("c_001", "REFUTED")]
    assert run("falls", "s", "--flip", "ch_001=survived").stdout == ""


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["falls", "s"], 2, "name what to take away: --without s_003"),
        (["falls", "s", "--flip", "ch_001"], 2, "not 'ch_001'; outcomes are survived, weakened"),
        (["falls", "s", "--flip", "ch_001=won"], 2, "--flip is written CHALLENGE=OUTCOME"),
        (["falls", "s", "--without", "s_999"], 1, "no source 's_999' in this run; it has s_001..s_002"),
        (["falls", "s", "--without", "s_001", "--at", "99999"], 1, "has events 1.."),
        (["fork", "s", "--at", "99999"], 1, "has events 1.."),
        (["fork", "s", "--at", "5", "--as", "s"], 2, "no fork of 's' at event 5; choose another name"),
        (["fork", "s", "--at", "5", "--as", "a b"], 1, "session id must be 1 to 128 letters"),
        (["fork", "nobody"], 1, "no session 'nobody'"),
    ],
)
def test_what_cannot_be_done_says_what_can(run: Run, words: list[str], code: int, said: str) -> None:
    done = run(*words)
    assert (done.exit_code, said in done.stderr) == (code, True), done.stderr
