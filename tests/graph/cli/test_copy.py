"""The command `copy`: what it says, what it refuses, and how it ends."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.desks import Caller
from tests.graph.cli.test_cli import call

from researchdesk.stores import transfer
from researchdesk.stores.sqlite.connection import connect
from researchdesk.stores.sqlite.migrations import steps
from researchdesk.tools.workspace import Desk, open_desk

NewHome = Callable[[str], str]


@pytest.fixture
def desk(desk: Desk, tmp_path: Path) -> Iterator[Desk]:
    """The finished run alone on a desk: that of all tests may hold what others added to it."""
    with open_desk(tmp_path / "alone") as alone:
        alone.import_session(desk.export("r1", tmp_path / "r1.jsonl"))
        yield alone


@pytest.mark.parametrize("way", [("folder", "server"), ("server", "folder")], ids=" to ".join)
def test_a_desk_is_copied_verified_and_told_in_numbers(
    new_home: NewHome, way: tuple[str, str], desk: Desk
) -> None:
    first, second = map(new_home, way)
    with open_desk(first) as source:
        desk.copy_to(source)
    done = call("copy", "--from", first, "--to", second)
    assert done.exit_code == 0, done.stderr
    events = len(desk.ledger.tail(limit=10_000))
    said, checked = done.stdout.splitlines()
    assert said.startswith(f"copied {events:,} events of 1 streams, ")
    assert said.endswith("; 0 events were there already")
    assert checked.startswith("ok: checked 1 streams, ")
    assert call("verify", "--home", second).stdout == f"{checked}\n"
    again = json.loads(call("copy", "--from", first, "--to", second, "--json").stdout)
    assert again["checked"]["events"] == again["events_before"] == events
    written = {key: again[key] for key in ("events", "rows", "bodies", "body_bytes", "gathered")}
    assert (again["ok"], again["streams"], set(written.values())) == (True, 1, {0})
    with open_desk(first) as source, open_desk(second) as target:
        assert (again["from"], again["to"]) == (source.where, target.where)
    report = call("report", "r1", "--home", second)
    assert report.stdout == call("report", "r1", "--home", desk.home).stdout


def test_the_source_may_come_from_the_environment(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESEARCHDESK_HOME", str(desk.home))
    assert call("copy", "--to", tmp_path / "copy").exit_code == 0
    assert [
        one["session_id"]
        for one in json.loads(call("sessions", "--home", tmp_path / "copy", "--json").stdout)
    ] == ["r1"]


def test_a_mistake_is_one_message_with_a_way_out(desk: Desk, tmp_path: Path) -> None:
    target = tmp_path / "copy"
    newer = tmp_path / "newer"
    with open_desk(newer):
        pass
    file = connect(newer / "ledger.sqlite")
    file.execute(f"PRAGMA user_version={steps()[-1][0] + 1}")
    file.close()
    mistakes: dict[tuple[str | Path, ...], tuple[int, str, str]] = {
        ("--from", tmp_path / "none", "--to", target): (1, "no desk in", "name one with --from"),
        ("--from", desk.home, "--to", desk.home): (2, "source and target are the same desk", "name another"),
        ("--from", desk.home, "--to", " "): (2, "say where to copy to", "--to HOME"),
        ("--from", desk.home): (2, "Missing option", "--to"),
        ("--from", desk.home, "--to", newer): (1, "was written by a newer version", "Upgrade researchdesk"),
        ("--from", newer, "--to", target): (1, "was written by a newer version", "Upgrade researchdesk"),
        ("--from", desk.home, "--to", "postgresql://me@127.0.0.1:1/none"): (1, "refused", "127.0.0.1:1/none"),
        ("--from", "postgresql://me@127.0.0.1:1/none", "--to", target): (1, "refused", "127.0.0.1:1/none"),
    }
    for arguments, (code, *parts) in mistakes.items():
        done = call("copy", *arguments)
        assert (done.exit_code, done.stdout) == (code, ""), arguments
        assert all(part in done.stderr for part in parts), done.stderr
        assert not target.exists()


def test_another_history_is_a_mistake_and_damage_a_failure_of_integrity(desk: Desk, tmp_path: Path) -> None:
    with open_desk(tmp_path / "other") as other:
        Caller(other.session("r1")).start("Another question?")
    refused = call("copy", "--from", desk.home, "--to", tmp_path / "other")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "session:r1: from event 1 on they differ" in refused.stderr
    shutil.copytree(desk.home, tmp_path / "damaged")
    file = connect(tmp_path / "damaged" / "ledger.sqlite")
    file.execute("DROP TRIGGER events_keep_update")
    file.execute("UPDATE events SET ts = replace(ts, '20', '19') WHERE seq = 7")
    file.close()
    broken = call("copy", "--from", tmp_path / "damaged", "--to", tmp_path / "new")
    assert (broken.exit_code, broken.stdout) == (4, "")
    assert "session:r1', event 7" in broken.stderr
    with open_desk(tmp_path / "new") as target:
        assert target.sessions() == []


def test_a_copy_that_is_interrupted_says_that_the_same_command_goes_on(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "BATCH_EVENTS", 10)
    monkeypatch.setattr("researchdesk.graph.copying.CopyView.update", interrupt)
    stopped = call("copy", "--from", desk.home, "--to", tmp_path)
    assert (stopped.exit_code, stopped.stdout) == (3, "")
    assert "the same command goes on from there" in stopped.stderr
    monkeypatch.undo()
    done = json.loads(call("copy", "--from", desk.home, "--to", tmp_path, "--json").stdout)
    assert done["events_before"] >= 10 and done["events"] > 0


def interrupt(view: object, progress: transfer.CopyProgress) -> None:
    if progress.done >= 10 and progress.stage == "copying":
        raise KeyboardInterrupt


def test_a_long_copy_tells_how_far_it_is(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "BATCH_EVENTS", 10)
    monkeypatch.setattr("researchdesk.graph.copying.EVENTS_A_LINE", 20)
    done = call("copy", "--from", desk.home, "--to", tmp_path)
    events = len(desk.ledger.tail(limit=10_000))
    told = [int(number) for number in re.findall(rf"\n  copied (\d+) of {events} events", done.stderr)]
    assert f"  checked {events} of {events} events\n" in done.stderr
    assert len(told) == events // 20 and told == sorted(set(told))


def test_the_help_says_what_is_not_copied() -> None:
    said = " ".join(call("copy", "--help").stdout.split())
    for word in ("leases", "checkpoints", "indexes", "rendered reports", "notes"):
        assert word in said
