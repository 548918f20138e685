"""The command line as a person and a script meet it: outputs, streams, exit codes, signals."""

import json
import os
import re
import signal
import subprocess
import sys
import tracemalloc
import zipfile
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import orjson
import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from langgraph.runtime import RunControl
from tests.graph.cli.conftest import finish, written_run
from typer.testing import CliRunner, Result

from researchdesk.graph import cli
from researchdesk.graph.bundles import verify_bundle
from researchdesk.graph.plain import plain, plain_json
from researchdesk.graph.runner import run_research
from researchdesk.state import events as ev
from researchdesk.state.errors import UsageError
from researchdesk.tools.workspace import Desk, open_desk

QUESTION = "What rate limit does the gateway have for each client?"
COMMAND = (sys.executable, "-m", "researchdesk.graph.cli")


def call(*arguments: str | Path, stdin: str = "") -> Result:
    return CliRunner().invoke(cli.app, [str(part) for part in arguments], input=stdin)


def started(*arguments: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.fixture(scope="module")
def finished(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A home folder with one run by the offline model, and what `run` said."""
    home = tmp_path_factory.mktemp("run") / "home"
    done = call(
        "run", QUESTION, "--corpus", corpus, "--home", home, "--scope", "quick", "--template", "general"
    )
    return home, done


def test_run_prints_the_session_then_the_report_and_keeps_a_copy(finished: tuple[Path, Result]) -> None:
    home, done = finished
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith(f"r1\n\n# {QUESTION}\n\n- **Status:** completed\n")
    copy = home / "reports" / "r1.md"
    assert done.stdout == f"r1\n\n{copy.read_text()}"
    said = done.stderr.splitlines()
    assert said[0] == f"session r1 in {home}"
    assert "        5 documents (5 read anew" in done.stderr
    assert said[-2:] == ["completed", f"report  {copy}"]
    assert sum(line.startswith("section written: ") for line in said) == 5


def test_a_completed_run_is_shown_again_by_resume(finished: tuple[Path, Result]) -> None:
    home, done = finished
    again = call("resume", "--home", home)
    assert (again.exit_code, again.stdout) == (0, done.stdout)


def test_run_with_json_writes_one_object_a_line_and_the_result_last(corpus: Path, tmp_path: Path) -> None:
    done = call("run", QUESTION, "--corpus", corpus, "--home", tmp_path, "--scope", "quick", "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["type"] for line in lines[:2]] == ["run.started", "ledger.event"]
    assert lines[-1] == {
        "type": "result",
        "session_id": "r1",
        "status": "completed",
        "stage": "completed",
        "stop_reason": None,
        "blocked_reason": "",
        "report_artifact_id": lines[-1]["report_artifact_id"],
        "drained": False,
        "cost_usd": 0.0,
        "outcome": "completed",
        "report_path": str(tmp_path / "reports" / "r1.md"),
        "exit_code": 0,
    }


def test_a_run_that_was_stopped_early_is_partial_and_shows_its_report(corpus: Path, tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        session = written_run(desk, corpus)
        session.record([ev.ResearchStopped(reason="step_cap", detail="40 requests of 40 were made")])
        finish(session)
    done = call("resume", "--home", tmp_path)
    reason = "partial: the research was stopped early because it had made as many model requests as it may"
    assert done.exit_code == 3
    assert f"the run is {reason} (40 requests of 40 were made)\n" in done.stderr
    assert f"report  {tmp_path / 'reports' / 'r1.md'}\n" in done.stderr
    assert f"- **Status:** {reason} (40 requests of 40 were made)\n" in done.stdout
    assert "\nstatus     partial; stopped early because it had" in call("status", "--home", tmp_path).stdout
    assert " partial (step_cap) " in call("sessions", "--home", tmp_path).stdout


def test_a_run_without_evidence_ends_blocked_has_no_report_and_says_what_to_change(tmp_path: Path) -> None:
    (tmp_path / "blank").mkdir()
    (tmp_path / "blank" / "blank.md").write_text(" ")
    home = tmp_path / "home"
    done = call("run", QUESTION, "--corpus", tmp_path / "blank", "--home", home)
    assert (done.exit_code, done.stdout) == (3, "r1\n")
    assert "nothing here can be read" in done.stderr
    advice = "with other documents (--corpus PATH) or providers (--web NAMES), or it ends the same way"
    for ended in (done, call("resume", "--home", home)):
        assert ended.exit_code == 3 and "the run is blocked: no evidence" in ended.stderr
        assert f"resume  researchdesk resume r1 --home {home}\n        {advice}\n" in ended.stderr
    report = call("report", "--home", home)
    assert (report.exit_code, report.stdout) == (1, "")
    assert report.stderr.startswith(
        "researchdesk: session 'r1' has no report yet, nor a section of one: it is blocked"
    )
    assert report.stderr.endswith(f"`researchdesk resume r1` takes it up {advice}\n")


def test_a_start_that_fails_opens_no_session_and_uses_up_no_id(corpus: Path, tmp_path: Path) -> None:
    home, empty, wrong = tmp_path / "home", tmp_path / "empty", tmp_path / "wrong"
    for folder in (empty, wrong):
        folder.mkdir()
    (empty / "picture.png").write_bytes(b"\x89PNG")
    (wrong / "corpus.toml").write_text("[origins]\nnist = nist.gov\n")
    starts: tuple[tuple[list[str | Path], str], ...] = (
        (["--corpus", empty], f"nothing in {empty} can be read; name a folder with documents"),
        (["--corpus", wrong], 'write for example\n[origins]\n"folder/" = "publisher.org"\n'),
        (
            ["--corpus", corpus, "--model", "gpt5x"],
            "There are: offline (rules, no key, no network) and provider:model",
        ),
    )
    for options, said in starts:
        failed = call("run", QUESTION, "--home", home, *options)
        assert failed.exit_code in (1, 2) and said in failed.stderr, failed.stderr
        assert failed.stdout == ""
    assert json.loads(call("sessions", "--home", home, "--json").stdout) == []
    done = call("run", QUESTION, "--corpus", corpus, "--home", home, "--scope", "quick", "--max-steps", "1")
    assert done.stdout.startswith("r1\n")


def test_a_prefix_of_corpus_toml_that_no_document_stands_under_is_told_at_the_start(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    (folder / "nist").mkdir(parents=True)
    (folder / "nist" / "limits.md").write_text("The gateway allows 100 requests per minute.\n")
    (folder / "corpus.toml").write_text('[origins]\n"nist/" = "nist.gov"\n"owsap/" = "owasp.org"\n')
    options = ("--corpus", folder, "--scope", "quick", "--max-steps", "1", "--home", tmp_path / "home")
    said = call("run", QUESTION, *options).stderr
    assert said.count("warning") == 1
    assert "warning: no document stands under 'owsap', which corpus.toml names" in said
    assert "warning" not in call("resume", "--origin-by", "file", "--home", tmp_path / "home").stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["run", QUESTION], 2, "name folders or files with --corpus PATH"),
        (["run", QUESTION, "--corpus", "no/such"], 2, "no such folder or file"),
        (["run", QUESTION, "--corpus", ".", "--template", "nope"], 2, "no template 'nope'; there are"),
        (["run", QUESTION, "--corpus", ".", "--scope", "nope"], 2, "'--scope'"),
        (["run", QUESTION, "--corpus", ".", "--session", "a/b"], 1, "session id must be"),
        (["run", QUESTION, "--corpus", ""], 2, "the path is empty (is a variable unset?)"),
        (["run", QUESTION, "--corpus", "~nouser/x"], 2, "there is no home folder for '~nouser/x'"),
        (["run", QUESTION, "--corpus", "n" * 5_000], 2, "no such folder or file: 'nnn"),
        (["run", QUESTION, "--corpus", "\udcff"], 2, "is not UTF-8 and cannot be recorded"),
        (["run", QUESTION, "--corpus", "\udcff", "--json"], 2, "is not UTF-8 and cannot be recorded"),
        (["run", "\udcff", "--corpus", "."], 2, "the objective is not UTF-8"),
        (["run", " ", "--corpus", "."], 2, "objective: it is empty"),
        (["run", "x" * 5_000, "--corpus", "."], 2, "objective: it has 5,000 characters"),
        (["run", QUESTION, "--corpus", ".", "--max-steps", "1" + "0" * 27], 2, "'--max-steps'"),
        (["run", QUESTION, "--corpus", ".", "--budget-tokens", "1" + "0" * 27], 2, "'--budget-tokens'"),
        (["run", QUESTION, "--corpus", ".", "--wall-seconds", "1" + "0" * 27], 2, "'--wall-seconds'"),
        (["run", QUESTION, "--corpus", ".", "--home", "~nouser/x"], 2, "no home folder for '~nouser/x'"),
        (["run", QUESTION, "--corpus", ".", "--home", "\udcff"], 2, "is not UTF-8; choose another"),
        (["run", QUESTION, "--corpus", ".", "--home", "n" * 5_000], 1, "File name too long"),
        (["status", "--home", "n" * 5_000], 1, "no desk in nnn"),
        (["status", "--home", "\udcff", "--json"], 1, "no desk in"),
        (["status", "--watch", "--interval", "1e300"], 2, "'--interval'"),
        (["status", "n" * 5_000], 1, "no session 'nnn"),
        (["events", "--after", "1" + "0" * 23], 2, "'--after'"),
        (["verify", "n" * 5_000], 1, "no session 'nnn"),
        (["import", "n" * 5_000], 1, "no file nnn"),
        (["export", "--out", ""], 2, "is a folder; name a file"),
        (["export", "--out", "."], 2, "is a folder; name a file"),
        (["export", "--out", "n" * 300], 1, "File name too long"),
        (["report", "--out", "."], 2, "is a folder; name a file"),
        (["run"], 2, "OBJECTIVE"),
        (["nope"], 2, "No such command 'nope'"),
        (["status", "zz"], 1, "no session 'zz'"),
        (["report", "zz"], 1, "no session 'zz'"),
        (["verify", "zz"], 1, "no session 'zz'"),
        (["verify", "nope.zip"], 1, "no such file: nope.zip"),
        (["verify", "no/such"], 1, "no such file: no/such"),
        (["export", "r99"], 1, "no session 'r99'"),
        (["import", "no/such.zip"], 1, "no file"),
        (["export"], 2, "--out FILE"),
        (["purge", "r1", "--reason", "asked", "--actor", "me", "--yes"], 2, "--actor human:NAME"),
        (["purge", "r1", "--reason", "asked", "--actor", "human:me"], 2, "confirm it with --yes"),
        (["sessions", "--home", "postgresql:x"], 2, "postgresql://user@host/database?schema=name"),
    ],
)
def test_a_mistake_is_one_message_and_an_exit_code(
    desk: Desk, arguments: list[str], code: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    home = [] if "--home" in arguments else ["--home", str(desk.home)]
    done = call(*arguments, *(home if arguments[0] not in ("nope",) else []))
    assert done.exit_code == code, done.stderr
    assert words in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr and "unexpected" not in done.stderr
    assert len(done.stderr) < 1_000
    assert done.stdout == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", QUESTION, "--corpus", "no/such"],
        ["run", QUESTION, "--corpus", ""],
        ["run", "", "--corpus", "."],
        ["run", "x" * 5_000, "--corpus", "."],
        ["run", QUESTION, "--corpus", ".", "--session", "a/b"],
    ],
)
def test_a_mistake_opens_no_session_and_makes_no_home_folder(arguments: list[str], tmp_path: Path) -> None:
    done = call(*arguments, "--home", tmp_path / "new")
    assert done.exit_code in (1, 2) and "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["", "~nouser/x", "\udcff"])
def test_a_corpus_path_that_names_nothing_opens_no_session(path: str, tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        with pytest.raises(UsageError):
            run_research(desk, QUESTION, corpus=[path])
        assert desk.sessions() == []


def test_looking_makes_no_home_folder(tmp_path: Path) -> None:
    for name in ("status", "report", "sources", "sessions", "events", "log", "verify", "resume"):
        done = call(name, "--home", tmp_path / "none")
        assert done.exit_code == 1
        assert done.stderr.startswith(f"researchdesk: no desk in {tmp_path / 'none'}")
    assert list(tmp_path.iterdir()) == []


def test_the_home_folder_comes_from_the_environment(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESEARCHDESK_HOME", str(desk.home))
    assert json.loads(call("status", "--json").stdout)["session_id"] == "r1"


def test_an_unexpected_error_is_one_line_without_secrets(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4

    def broken(_: Desk) -> None:
        raise RuntimeError(f"boom {token} in /home/me/secret/file.txt")

    monkeypatch.setattr(Desk, "sessions", broken)
    done = call("sessions", "--home", desk.home)
    assert done.exit_code == 1
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("researchdesk: unexpected error: RuntimeError: boom")
    assert token not in done.stderr and "/home/me" not in done.stderr
    monkeypatch.setenv("RESEARCHDESK_DEBUG", "1")
    assert "Traceback" in call("sessions", "--home", desk.home).stderr


def test_tables_keep_whole_ids_where_a_program_reads_them(desk: Desk) -> None:
    rows = call("sources", "--home", desk.home).stdout.splitlines()
    assert rows[0].split() == ["id", "title", "publisher", "locator", "chars", "read", "hash", "provenance"]
    assert [row.split()[0] for row in rows[1:]] == ["s_001", "s_002", "s_003", "s_004"]
    assert "file:handbook/limits.md" in rows[1] and rows[4].endswith("supplied")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", "\n".join(rows))
    as_json = json.loads(call("sources", "--home", desk.home, "--json").stdout)
    assert [one["source_id"] for one in as_json] == ["s_001", "s_002", "s_003", "s_004"]


def test_status_has_the_keys_that_programs_rely_on(desk: Desk) -> None:
    view = json.loads(call("status", "r1", "--home", desk.home, "--json").stdout)
    assert {
        *("session_id", "objective", "scope_level", "template", "status", "stage", "round", "stop_reason"),
        *("checklist", "questions", "claims", "challenges", "sources", "domains", "artifacts"),
        *(
            "report_sections",
            "blockers",
            "worker_run_ids",
            "inspected_refs",
            "tokens",
            "cost_usd",
            "coverage",
        ),
        "updated_at",
    } <= set(view)
    assert view["updated_at"]
    text = call("status", "r1", "--home", desk.home, "--watch").stdout
    assert "status     completed\n" in text
    assert "           – Gaps (- no [time](javascript:1) for <b>it</b>)\n" in text


def test_events_are_whole_in_json_and_begin_after_a_number(desk: Desk) -> None:
    lines = call("events", "r1", "--home", desk.home, "--after", "2", "--json").stdout.splitlines()
    first = json.loads(lines[0])
    assert first["seq"] == 3
    assert set(first) == {
        *(
            "stream",
            "seq",
            "event_id",
            "type",
            "schema_version",
            "ts",
            "refs",
            "payload",
            "prev_hash",
            "hash",
        ),
        "global_seq",
    }
    table = call("events", "r1", "--home", desk.home).stdout.splitlines()
    assert len(table) == len(lines) + 3
    assert table[1].split()[2] == "session_opened"


@pytest.mark.parametrize("command", [["events", "--json"], ["log", "--json"], ["report", "--format", "json"]])
def test_json_holds_no_character_that_acts_on_a_terminal_and_says_the_same(
    command: list[str], corpus: Path, tmp_path: Path
) -> None:
    acting = "a \x9b31m \u202e \u2028 z"
    with open_desk(tmp_path) as desk:
        session = written_run(desk, corpus)
        session.call("deep_research_checkpoint", {"summary": acting}, tool_call_id="acting")
        session.record([ev.ResearchStopped(reason="step_cap", detail=acting)])
        finish(session)
    out = call(*command, "--home", tmp_path).stdout
    assert not re.search("[\x7f-\x9f\u2028\u202e]", out)
    assert json.dumps(acting)[1:-1] in out


@given(
    st.recursive(
        st.text() | st.integers(-9, 9), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_escaped_json_is_parsed_as_the_same_value(value: Any) -> None:
    try:
        document = orjson.dumps(value).decode()
    except TypeError:
        return
    assert orjson.loads(plain_json(document)) == value
    assert plain(plain_json(document)) == plain_json(document)


def test_the_log_shows_who_called_what_and_what_came_back(finished: tuple[Path, Result]) -> None:
    home, _ = finished
    lines = call("log", "--home", home).stdout.splitlines()
    searched = next(line for line in lines if "  search_sources" in line)
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d  t_1 ", searched)
    assert "success" in searched
    messages = json.loads(call("log", "--home", home, "--json").stdout)
    assert [message["role"] for message in messages[:2]] == ["caller", "assistant"]
    assert messages[1]["calls"][0]["tool"] == "search_sources"


def test_a_handoff_is_a_draft_that_nobody_sends(desk: Desk) -> None:
    first = call("handoff", "r1", "--home", desk.home)
    assert first.exit_code == 0
    assert first.stdout.startswith("r1-next\n\nThis task continues a finished research run.")
    assert "Nothing was sent" in first.stderr
    again = json.loads(call("handoff", "r1", "--home", desk.home, "--json").stdout)
    assert (again["session_id"], again["sent"]) == ("r1-next", False)
    assert first.stdout == f"r1-next\n\n{plain(again['prompt'])}\n"
    listed = call("sessions", "--home", desk.home).stdout.splitlines()
    assert [row.split()[0] for row in listed] == ["session", "r1-next", "r1"]


@pytest.mark.parametrize("name", ["r1.zip", "r1.jsonl"])
def test_an_export_is_verified_and_imported_elsewhere(desk: Desk, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    assert call("export", "r1", "--home", desk.home, "--out", file).stdout == f"{file}\n"
    checked = call("verify", file)
    assert (checked.exit_code, checked.stdout[:12]) == (0, "ok: checked ")
    there = tmp_path / "there"
    assert call("import", file, "--home", there).stdout == "r1\n"
    assert "was here already" in call("import", file, "--home", there).stderr
    assert call("verify", "--home", there).exit_code == 0
    for form in ("md", "html", "json"):
        one, other = (
            call("report", "r1", "--home", home, "--format", form).stdout for home in (desk.home, there)
        )
        assert one == other
    assert call("rebuild", "r1", "--home", there).stdout.endswith("rows of session r1 written anew\n")


def test_a_changed_export_is_an_integrity_failure(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "r1.jsonl"
    call("export", "r1", "--home", desk.home, "--out", file)
    file.write_bytes(file.read_bytes().replace(b"100 requests", b"900 requests"))
    done = call("verify", file)
    assert done.exit_code == 4
    assert done.stderr.startswith("researchdesk: line ")


def test_a_bundle_whose_rows_were_changed_is_an_integrity_failure(desk: Desk, tmp_path: Path) -> None:
    call("export", "r1", "--home", desk.home, "--out", tmp_path / "r1.zip")
    with zipfile.ZipFile(tmp_path / "r1.zip") as given, zipfile.ZipFile(tmp_path / "x.zip", "w") as changed:
        for name in given.namelist():
            body = given.read(name)
            changed.writestr(name, body.replace(b"handbook", b"handb00k") if "rows/" in name else body)
    done = call("verify", tmp_path / "x.zip")
    assert done.exit_code == 4
    assert "problem: rows/sources.jsonl is not what its session says\n" in done.stdout


def test_a_file_of_a_bundle_that_is_larger_than_it_has_to_be_is_not_unpacked(
    desk: Desk, tmp_path: Path
) -> None:
    call("export", "r1", "--home", desk.home, "--out", tmp_path / "r1.zip")
    with (
        zipfile.ZipFile(tmp_path / "r1.zip") as given,
        zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as bomb,
    ):
        for name in given.namelist():
            bomb.writestr(name, b" " * 2**26 if name == "rows/sources.jsonl" else given.read(name))
    tracemalloc.start()
    report = verify_bundle(tmp_path / "x.zip")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert report.problems == ("rows/sources.jsonl is not what its session says",)
    assert peak < 2**25


def test_the_help_of_purge_says_what_stays() -> None:
    said = " ".join(call("purge", "--help").stdout.split())
    for words in (
        "Events never change",
        "found snippets and short quotations",
        "have to be named too",
        "index.sqlite",
    ):
        assert words in said


def test_a_purge_removes_bodies_and_leaves_a_tombstone(desk: Desk, tmp_path: Path) -> None:
    file, home = tmp_path / "r1.zip", tmp_path / "home"
    call("export", "r1", "--home", desk.home, "--out", file)
    call("import", file, "--home", home)
    artifact = json.loads(call("sources", "--home", home, "--json").stdout)[0]["artifact_id"]
    done = call(
        *("purge", "r1", "--home", home, "--artifact", artifact),
        *("--reason", "asked", "--actor", "human:me", "--yes"),
    )
    assert done.exit_code == 0, done.stderr
    assert "fetched, purged" in call("sources", "--home", home).stdout.splitlines()[1]
    assert call("verify", "--home", home).exit_code == 0


def test_a_report_can_be_written_to_a_file(desk: Desk, tmp_path: Path) -> None:
    out = tmp_path / "new" / "report.html"
    done = call("report", "r1", "--home", desk.home, "--format", "html", "--out", out)
    assert (done.stdout, done.stderr) == ("", f"report  {out}\n")
    assert out.read_text().startswith("<!doctype html>")


def test_an_export_and_a_report_go_into_a_pipe_and_through_a_link(desk: Desk, tmp_path: Path) -> None:
    call("export", "r1", "--home", desk.home, "--out", tmp_path / "r1.zip")
    call("report", "r1", "--home", desk.home, "--out", tmp_path / "r1.md")
    for command, whole in (("export", tmp_path / "r1.zip"), ("report", tmp_path / "r1.md")):
        pipe, link, real = (tmp_path / f"{command}.{kind}" for kind in ("pipe", "link", "real"))
        os.mkfifo(pipe)
        run = started(command, "r1", "--home", desk.home, "--out", pipe)
        piped = pipe.read_bytes()
        assert run.communicate(timeout=60)[1].startswith("report" if command == "report" else "")
        assert (run.returncode, pipe.is_fifo()) == (0, True)
        link.symlink_to(real)
        assert call(command, "r1", "--home", desk.home, "--out", link).exit_code == 0
        assert link.is_symlink() and real.read_bytes() == whole.read_bytes()
        (tmp_path / "piped").write_bytes(piped)
        if command == "export":
            assert call("verify", tmp_path / "piped").exit_code == 0
        else:
            assert piped == whole.read_bytes()


def test_tools_are_listed_in_the_form_that_providers_take() -> None:
    functions = json.loads(call("tools", "--format", "openai").stdout)
    assert {function["type"] for function in functions} == {"function"}
    names = [function["function"]["name"] for function in functions]
    assert "deep_research_start" in names
    listed = json.loads(call("tools", "--json").stdout)
    assert [one["name"] for one in listed] == names
    assert call("tools").stdout.startswith(f"{names[0]} (sources)\n  ")


def test_tools_are_listed_with_their_family() -> None:
    listed = json.loads(call("tools", "--json").stdout)
    families = [one["family"] for one in listed]
    assert {name: families.count(name) for name in families} == {
        "sources": 2,
        "research": 8,
        "investigate": 15,
        "desk": 8,
    }
    assert "\n\nfrontier_next (investigate)\n  " in call("tools").stdout


def test_commands_of_other_packages_are_loaded_when_they_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    app = typer.Typer(cls=cli.app.info.cls)
    monkeypatch.setattr(cli, "app", app)
    app.command("first")(lambda: None)
    cli._add_foreign_command(EntryPoint("good", "tests.graph.cli.test_cli:foreign", cli.COMMANDS_GROUP))
    cli._add_foreign_command(EntryPoint("bad", "no_such_package:app", cli.COMMANDS_GROUP))
    assert "bad" in call("--help").stdout
    good = call("good", "--name", "you")
    assert (good.exit_code, good.stdout) == (0, "hello you\n")
    bad = call("bad")
    assert bad.exit_code == 1
    assert "the command bad of no_such_package cannot be loaded" in bad.stderr


def test_our_own_commands_above_are_listed_with_what_they_say_of_themselves() -> None:
    listed = call("--help").stdout
    assert "From researchdesk" not in listed
    ours = [
        entry
        for entry in entry_points(group=cli.COMMANDS_GROUP)
        if entry.dist and entry.dist.name == "researchdesk"
    ]
    assert "plot" in [entry.name for entry in ours]
    for entry in ours:
        (command,) = entry.load().registered_commands
        assert f"  {entry.name:<9}  {command.callback.__doc__.splitlines()[0]}\n" in listed


foreign = typer.Typer()


@foreign.command()
def _greet(name: str = "") -> None:
    print(f"hello {name}")


def test_help_and_looking_load_no_langgraph() -> None:
    script = (
        "import sys\nfrom typer.testing import CliRunner\nfrom researchdesk.graph.cli import app\n"
        "for words in (['--help'], ['run', '--help'], ['status'], ['report'], ['sources'], ['sessions'], ['tools']):\n"
        "    CliRunner().invoke(app, words)\n"
        "print([name for name in ('langgraph', 'langchain_core', 'trafilatura') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """So many documents that reading them takes a moment, in which a signal can come."""
    folder = tmp_path / "large"
    folder.mkdir()
    for number in range(3_000):
        (folder / f"{number}.md").write_text(
            f"# Document {number}\n\nThe gateway allows {number} requests.\n"
        )
    return folder


def test_a_run_that_ends_while_documents_are_read_can_be_resumed(large: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    for ending, code in ((signal.SIGTERM, 3), (signal.SIGKILL, -signal.SIGKILL)):
        run = started("run", QUESTION, "--corpus", large, "--home", home, "--session", ending.name)
        assert run.stdout is not None and run.stdout.readline() == f"{ending.name}\n"
        run.send_signal(ending)
        _, said = run.communicate(timeout=60)
        assert run.returncode == code, said
        if ending is signal.SIGTERM:
            assert "stopped while the documents were read" in said
            assert f"resume  researchdesk resume {ending.name} --home {home}" in said
        status = json.loads(call("status", ending.name, "--home", home, "--json").stdout)
        assert (status["objective"], status["status"]) == (QUESTION, "active")


def test_a_first_signal_stops_cleanly_and_resume_goes_on(corpus: Path, tmp_path: Path) -> None:
    run = started("run", QUESTION, "--corpus", corpus, "--home", tmp_path, "--scope", "quick", "--json")
    assert run.stdout is not None
    for line in run.stdout:
        if json.loads(line).get("kind") == "source_recorded":
            run.send_signal(signal.SIGINT)
            break
    out, said = run.communicate(timeout=60)
    result = json.loads(out.splitlines()[-1])
    assert (run.returncode, result["outcome"], result["drained"]) == (3, "stopped", True), said
    assert "stopping after the step in work; once more ends at once" in said
    assert f"resume  researchdesk resume r1 --home {tmp_path}" in said
    assert call("resume", "--home", tmp_path).exit_code == 0
    assert call("verify", "--home", tmp_path).exit_code == 0


def test_a_stop_before_the_first_step_is_no_error(corpus: Path, tmp_path: Path) -> None:
    control = RunControl()
    control.request_drain()
    with open_desk(tmp_path) as desk:
        ended = run_research(desk, QUESTION, corpus=[corpus], control=control)
    assert (ended.session_id, ended.status, ended.drained) == ("r1", "active", True)


def test_a_reader_that_goes_away_stops_the_run_quietly(corpus: Path, tmp_path: Path) -> None:
    run = started("run", QUESTION, "--corpus", corpus, "--home", tmp_path, "--scope", "quick", "--json")
    assert run.stdout is not None and run.stderr is not None
    run.stdout.readline()
    run.stdout.close()
    said = run.stderr.read()
    run.stderr.close()
    assert run.wait(timeout=60) == 3
    assert "stopped as asked" in said and "Broken" not in said and "Traceback" not in said
    assert call("resume", "--home", tmp_path).exit_code == 0


def test_a_pipe_that_closes_early_is_quiet(desk: Desk) -> None:
    run = started("events", "r1", "--home", desk.home, "--json")
    assert run.stdout is not None and run.stderr is not None
    run.stdout.close()
    said = run.stderr.read()
    run.stderr.close()
    run.wait(timeout=60)
    assert said == ""


def test_a_second_signal_ends_at_once() -> None:
    script = (
        "import os, signal, time\nfrom researchdesk.graph.stopping import stoppable\n"
        "with stoppable() as control:\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(0.01)\n    assert control.drain_requested\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n    time.sleep(30)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.split("\n")[1::2] == [
        "stopping after the step in work; once more ends at once",
        "ended at once",
    ]
