"""A mirror is what its ledger holds, row for row, whatever happens to either; and no run is disturbed by it."""

import contextlib
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from researchdesk.state.errors import Unavailable, UsageError
from researchdesk.stores.mirror import mirror as mirrors
from researchdesk.stores.mirror import news, syncing
from researchdesk.stores.mirror.mirror import Synced
from researchdesk.tools.workspace import Desk, open_desk

from ..test_copying import fill
from .histories import Play

SCRIPT = Path(__file__).with_name("syncer.py")
NewHome = Callable[[str], str]


@pytest.fixture(params=["folder", "server"])
def home(request: pytest.FixtureRequest, new_home: NewHome) -> str:
    """A desk of each backend."""
    return new_home(request.param)


@pytest.fixture
def desk(home: str) -> Iterator[Desk]:
    with open_desk(home) as opened:
        yield opened


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Desk]:
    """A filled desk in a folder, for what does not depend on the ledger's backend."""
    with open_desk(tmp_path / "desk") as opened:
        fill(opened)
        yield opened


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirrors, "SYNC_PATIENCE", 0.1)
    monkeypatch.setattr(mirrors, "READ_PATIENCE", 0.1)


@contextlib.contextmanager
def process(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A process of `syncer.py`; killed at the end of the block."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-P", str(SCRIPT), *map(str, arguments)]
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        try:
            yield started
        finally:
            started.kill()


def line(started: subprocess.Popen[str]) -> str:
    """The next line of a process."""
    assert started.stdout is not None
    return started.stdout.readline().strip()


def something(desk: Desk, name: str) -> None:
    """One event more."""
    desk.existing("s5").call("deep_research_status", {}, tool_call_id=name.replace(" ", "-"))


def sound(desk: Desk) -> Synced:
    """A sync that brings the mirror to where the ledger stands."""
    synced = desk.sync_mirror()
    assert synced.ok, synced
    assert desk.mirror.differences(desk.ledger) == []
    return synced


# -- what is mirrored ----------------------------------------------------------------------------------------------


def test_a_mirror_holds_every_row_and_a_second_sync_writes_none(desk: Desk) -> None:
    fill(desk)
    first = sound(desk)
    newest = desk.ledger.query("SELECT max(global_seq) AS n FROM events")[0]["n"]
    assert (first.outcome, first.events, first.note) == ("synced", newest, "")
    assert desk.sync_mirror() == Synced(outcome="synced")
    something(desk, "one more")
    assert sound(desk) == Synced(outcome="synced", events=1, rows=3)  # the call, and the message in its place


def test_an_empty_ledger_has_an_empty_mirror_that_is_filled_later(desk: Desk) -> None:
    assert sound(desk).events == 0
    fill(desk)
    assert sound(desk).events > 30


@pytest.mark.parametrize("seed", range(4))
def test_a_mirror_follows_any_history(desk: Desk, seed: int) -> None:
    play = Play(desk, seed)
    for _ in range(60):
        play.step()
        if play.dice.random() < 0.2:
            assert desk.sync_mirror().outcome == "synced"
    sound(desk)


@pytest.mark.parametrize("seed", range(4))
def test_so_does_one_that_reads_many_small_pages_at_once(
    desk: Desk, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name, value in (
        (syncing, "FEW", 3),
        (syncing, "PAGE", 4),
        (news, "PAGE", 4),
        (news, "ASKED", 2),
    ):
        monkeypatch.setattr(module, name, value)
    play = Play(desk, seed)
    for _ in range(3):
        for _ in range(25):
            play.step()
        sound(desk)


def test_what_is_written_while_a_sync_reads_comes_whole_or_later(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = Play(desk, 3)
    play.step()
    sound(desk)
    read, left = news.rows_at, [3]

    def slowly(*arguments: object) -> object:
        if left[0]:
            left[0] -= 1
            play.step()
        return read(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(news, "rows_at", slowly)
    for _ in range(12):
        play.step()
        left[0] = 2
        assert desk.sync_mirror().outcome == "synced"
        left[0] = 0
        written = desk.sql("SELECT max(global_seq) FROM events", sync=False).fetchall()
        orphans = (
            "SELECT count(*) FROM tool_calls t "
            "ANTI JOIN events e ON e.stream = 'session:' || t.session_id AND e.seq = t.seq"
        )
        assert desk.sql(orphans, sync=False).fetchall() == [(0,)], written
    sound(desk)


def test_values_have_their_types_and_what_is_empty_is_null(here: Desk) -> None:
    here.sync_mirror()
    found = here.sql("SELECT ts, payload->>'objective' FROM events WHERE type = 'research_started' LIMIT 1")
    assert [str(kind) for kind in found.types] == ["TIMESTAMP WITH TIME ZONE", "VARCHAR"]
    ((at, objective),) = found.fetchall()
    assert objective == "Why is the sky blue?"
    first = here.ledger.query(
        "SELECT ts FROM events WHERE type = 'research_started' ORDER BY global_seq LIMIT 1"
    )
    assert at.isoformat(timespec="microseconds") == first[0]["ts"]
    types = here.sql("SELECT typeof(deleted), typeof(rev), typeof(content_hash) FROM desk_files").fetchall()
    assert types == [("BOOLEAN", "BIGINT", "VARCHAR")]
    assert here.sql("SELECT DISTINCT context FROM messages WHERE role = 'caller'").fetchall() == [(None,)]


# -- mirrors that cannot be used -----------------------------------------------------------------------------------


def test_a_mirror_of_another_ledger_is_noticed_and_made_anew(here: Desk, tmp_path: Path) -> None:
    sound(here)
    with open_desk(tmp_path / "other") as other:
        Play(other, 1).step()
        shutil.copy(here.mirror.path, other.mirror.path)
        synced = sound(other)
    assert (synced.outcome, synced.note) == ("rebuilt", "it mirrors another ledger; it was made anew")


def test_a_ledger_that_was_restored_from_a_backup_has_its_mirror_made_anew(tmp_path: Path) -> None:
    home = tmp_path / "desk"
    with open_desk(home) as desk:
        fill(desk)
    backup = (home / "ledger.sqlite").read_bytes()
    with open_desk(home) as desk:
        for name in ("a", "b", "c"):
            something(desk, name)
        sound(desk)
    (home / "ledger.sqlite").write_bytes(backup)
    for number in range(5):
        with open_desk(home) as desk:
            something(desk, f"other {number}") if number else None
            synced = sound(desk)
            assert synced.outcome == ("rebuilt" if number == 0 else "synced")
            assert number or "put back to an older state" in synced.note


def test_a_mirror_of_another_version_is_made_anew(here: Desk) -> None:
    sound(here)
    with duckdb.connect(str(here.mirror.path)) as other:
        other.execute("UPDATE mirror_info SET schema = 'of tomorrow'")
    with pytest.raises(Unavailable, match="another version"):
        here.sql("SELECT 1", sync=False)
    synced = sound(here)
    assert synced.outcome == "rebuilt" and "another version" in synced.note
    assert not list(here.home.glob("mirror.duckdb.old"))


def spoil(path: Path, how: str) -> None:
    """Put something else in the place of a mirror."""
    sound = path.read_bytes()
    path.unlink()
    match how:
        case "empty":
            path.touch()
        case "text":
            path.write_text("no database at all\n" * 1_000)
        case "cut":
            path.write_bytes(sound[: len(sound) // 2])
        case "changed":
            path.write_bytes(bytes(byte ^ 0x55 if n % 4096 == 99 else byte for n, byte in enumerate(sound)))
        case "sqlite":
            with contextlib.closing(sqlite3.connect(path)) as other:
                other.execute("CREATE TABLE mine (x)")
                other.commit()
        case "of another program":
            with duckdb.connect(str(path)) as own:
                own.execute("CREATE TABLE mine AS SELECT 42 AS x")
        case "folder":
            path.mkdir()
            (path / "mine.txt").write_text("42")
        case "dangling link":
            path.symlink_to(path.with_name("nowhere") / "else.duckdb")


@pytest.mark.parametrize(
    "how", ["empty", "text", "cut", "changed", "sqlite", "of another program", "folder", "dangling link"]
)
def test_whatever_stands_in_the_place_of_a_mirror_is_set_aside(here: Desk, how: str) -> None:
    sound(here)
    spoil(here.mirror.path, how)
    before = here.mirror.path.lstat().st_ino
    synced = sound(here)
    assert synced.outcome == "rebuilt" and synced.note.startswith("it was no sound mirror (")
    assert here.mirror.path.with_name("mirror.duckdb.old").lstat().st_ino == before
    assert sound(here).outcome == "synced"


def test_a_mirror_may_be_deleted_at_any_time(here: Desk) -> None:
    sound(here)
    here.mirror.path.unlink()
    assert sound(here).outcome == "synced"
    before = here.mirror.path.stat().st_ino
    assert here.sync_mirror(rebuild=True).ok
    assert here.mirror.path.stat().st_ino != before
    assert here.mirror.differences(here.ledger) == []


def test_a_row_that_is_not_the_ledgers_is_found_by_comparing(here: Desk) -> None:
    sound(here)
    with duckdb.connect(str(here.mirror.path)) as other:
        other.execute("UPDATE claims SET status = 'REFUTED'")
        other.execute("INSERT INTO panels SELECT * FROM panels LIMIT 1")
        other.execute("DELETE FROM events WHERE global_seq = 7")
    found = here.mirror.differences(here.ledger)
    assert [text.partition(",")[0] for text in found] == ["table events", "table claims"]
    assert here.sync_mirror(rebuild=True).ok
    assert here.mirror.differences(here.ledger) == []


# -- other processes, kills and faults -------------------------------------------------------------------------------


@pytest.mark.usefixtures("impatient")
def test_a_mirror_that_another_program_has_open_is_left_and_caught_up_later(here: Desk) -> None:
    sound(here)
    with process("hold", here.mirror.path, "no") as other:
        assert line(other) == "open"
        something(here, "meanwhile")
        synced = here.sync_mirror()
        assert (synced.outcome, synced.events) == ("skipped", 0)
        assert synced.note == f"the mirror is in use: process {other.pid} has it open"
        with pytest.raises(Unavailable, match=rf"process {other.pid} has it open.*snapshot"):
            here.sql("SELECT 1")
    assert sound(here).events == 1


@pytest.mark.usefixtures("impatient")
def test_beside_a_reader_an_answer_says_how_far_it_is_behind(here: Desk) -> None:
    sound(here)
    with process("hold", here.mirror.path, "yes") as other:
        assert line(other) == "open"
        assert here.sql("SELECT count(*) FROM claims").fetchall() == [(1,)]
        something(here, "meanwhile")
        something(here, "once more")
        with pytest.warns(UserWarning, match=rf"process {other.pid} has it open; this is 2 events behind"):
            here.sql("SELECT count(*) FROM claims")
    assert sound(here).events == 2


@pytest.mark.usefixtures("impatient")
def test_while_one_process_syncs_others_leave_it_alone_and_its_death_loses_nothing(here: Desk) -> None:
    sound(here)
    something(here, "meanwhile")
    with process("wait_inside_a_sync", here.home) as other:
        assert line(other) == "inside"
        assert here.sync_mirror().outcome == "skipped"
        assert here.sync_mirror(rebuild=True).outcome == "skipped"
        something(here, "once more")
        other.kill()
        other.wait()
        assert sound(here).events == 2


@pytest.mark.parametrize("fresh", [False, True])
def test_a_sync_that_is_killed_anywhere_leaves_a_mirror_that_is_brought_up_to_date(
    desk: Desk, home: str, fresh: bool
) -> None:
    play, dice = Play(desk, 5), random.Random(1)
    play.step()
    if not fresh:
        sound(desk)
    for _ in range(5):
        with process("again_and_again", home) as other:
            line(other)
            for _ in range(10):
                play.step()
            time.sleep(dice.uniform(0, 0.1))  # anywhere in its work
            other.kill()
            other.wait()
        assert sound(desk).note == ""
    assert not list(desk.home.glob("*.part*"))


def test_a_full_disk_leaves_the_run_alone_and_the_mirror_behind(here: Desk) -> None:
    sound(here)
    Play(here, 2).step()
    for number in range(40):
        here.existing("s5").call("deep_research_status", {"x": "y" * 1_900}, tool_call_id=f"long{number}")
    before = here.mirror.path.read_bytes()
    with process("on_a_full_disk", here.home) as other:
        outcome, appended, note = line(other).split("\t")
    assert (outcome, appended) == ("failed", "True")
    assert note.startswith("the mirror cannot be written: ")
    assert len(before) > 200_000, "the limit is below the file's size"
    assert here.mirror.behind(here.ledger) > 40
    assert sound(here).outcome == "synced"


def test_a_first_mirror_on_a_full_disk_leaves_nothing_behind(here: Desk) -> None:
    with process("on_a_full_disk", here.home) as other:
        outcome, appended, _ = line(other).split("\t")
    assert (outcome, appended) == ("failed", "True")
    assert sorted(path.name for path in here.home.glob("mirror*")) == ["mirror.duckdb.lock"]
    with pytest.raises(Unavailable, match="run: researchdesk mirror sync"):
        here.sql("SELECT 1", sync=False)
    sound(here)


def test_a_folder_that_may_not_be_written_is_told_and_not_raised(here: Desk) -> None:
    here.mirror.path.with_name("mirror.duckdb.lock").mkdir()
    synced = here.sync_mirror()
    assert (synced.outcome, synced.ok) == ("failed", False)
    assert synced.note.startswith("the mirror cannot be written: ")
    something(here, "goes on")


def test_without_duckdb_the_message_says_what_to_install(tmp_path: Path) -> None:
    script = (
        "import sys; sys.modules['duckdb'] = None\n"
        "from researchdesk.tools.workspace import open_desk\n"
        "from researchdesk.state.errors import UsageError\n"
        "desk = open_desk(sys.argv[1])\n"
        "for ask in (desk.sync_mirror, lambda: desk.sql('SELECT 1')):\n"
        "    try: ask()\n"
        "    except UsageError as problem: print(problem)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, str(tmp_path)], env=environment, capture_output=True, text=True
    )
    assert done.stdout.count("install it with: pip install 'researchdesk[mirror]'") == 2, done.stderr


def test_a_desk_loads_no_duckdb_before_it_is_asked(tmp_path: Path) -> None:
    script = (
        "import sys; from researchdesk.tools.workspace import open_desk; open_desk(sys.argv[1]).sessions()\n"
        "print([name for name in ('duckdb', '_duckdb', 'numpy') if name in sys.modules])"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, str(tmp_path)], env=environment, capture_output=True, text=True
    )
    assert done.stdout == "[]\n", done.stderr


def test_only_one_select_is_answered(here: Desk) -> None:
    for wrong in ("", "SELECT 1; SELECT 2", "DELETE FROM claims", "no sql at all"):
        with pytest.raises(UsageError):
            here.sql(wrong)
