"""A mirror where its place, its folder or its device is none for it: told in a line, never a wait and never a crash."""

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from researchdesk.state.errors import Unavailable
from researchdesk.tools.workspace import Desk

from ...mounts import python, read_only, small
from .test_syncing import something, sound

KINDS = {"pipe": "a named pipe", "socket": "a socket", "folder": "a folder", "device": "a device"}


def put(path: Path, kind: str) -> None:
    """Something that is no file."""
    path.unlink(missing_ok=True)
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "socket":
            # The path of a socket may have some hundred letters only.
            here = os.open(path.parent, os.O_RDONLY)
            try:
                with socket.socket(socket.AF_UNIX) as listening:
                    listening.bind(f"/proc/self/fd/{here}/{path.name}")
            finally:
                os.close(here)
        case "folder":
            path.mkdir()
        case "device":
            path.symlink_to("/dev/zero")


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_is_not_opened_but_set_aside(desk: Desk, kind: str) -> None:
    path = desk.mirror.path
    put(path, kind)
    before = path.lstat().st_ino
    with pytest.raises(Unavailable, match=f"mirror.duckdb is no file but {KINDS[kind]}.*mirror sync"):
        desk.sql("SELECT 1", sync=False)
    synced = sound(desk)
    assert synced.outcome == "rebuilt"
    assert synced.note == (
        f"it was no sound mirror (mirror.duckdb is no file but {KINDS[kind]}); it was made anew, the old file is "
        "mirror.duckdb.old"
    )
    assert path.with_name("mirror.duckdb.old").lstat().st_ino == before
    assert stat.S_ISREG(path.lstat().st_mode)


@pytest.mark.parametrize(("before", "now"), [("folder", "pipe"), ("device", "folder"), ("folder", "folder")])
def test_a_folder_neither_gives_nor_takes_the_place_of_what_was_set_aside(
    desk: Desk, before: str, now: str
) -> None:
    path = desk.mirror.path
    asides = [path.with_name(name) for name in ("mirror.duckdb.old", "mirror.duckdb.old.2")]
    put(asides[0], before)
    put(path, now)
    stood = [one.lstat().st_ino for one in (asides[0], path)]
    assert sound(desk).note.endswith("it was made anew, the old file is mirror.duckdb.old.2")
    assert [one.lstat().st_ino for one in asides] == stood


@pytest.mark.parametrize("kind", ["pipe", "socket", "device"])
def test_no_log_is_read_that_is_no_file(desk: Desk, kind: str) -> None:
    put(desk.mirror.path.with_name("mirror.duckdb.wal"), kind)
    with pytest.raises(Unavailable, match=rf"mirror.duckdb.wal is no file but {KINDS[kind]}"):
        desk.sql("SELECT 1", sync=False)
    assert sound(desk).outcome == "rebuilt"


@pytest.mark.parametrize("kind", KINDS)
def test_a_lock_that_is_no_file_is_told_and_the_run_goes_on(desk: Desk, kind: str) -> None:
    lock = desk.mirror.path.with_name("mirror.duckdb.lock")
    put(lock, kind)
    why = f"mirror.duckdb.lock is no file but {KINDS[kind]}"
    synced = desk.sync_mirror()
    assert (synced.outcome, synced.note) == ("failed", f"the mirror cannot be written: {why}")
    with pytest.raises(Unavailable, match=why):
        desk.sql("SELECT 1", sync=False)
    something(desk, "goes on")
    lock.rmdir() if kind == "folder" else lock.unlink()
    assert sound(desk).events == 1


def test_a_link_that_leads_round_is_set_aside(desk: Desk) -> None:
    desk.mirror.path.unlink()
    desk.mirror.path.symlink_to(desk.mirror.path.name)
    synced = sound(desk)
    assert synced.outcome == "rebuilt" and "mirror.duckdb: Too many levels" in synced.note


def test_a_link_to_a_mirror_elsewhere_is_followed(desk: Desk, tmp_path: Path) -> None:
    elsewhere = desk.mirror.path.rename(tmp_path / "elsewhere.duckdb")
    desk.mirror.path.symlink_to(elsewhere)
    something(desk, "more")
    assert (sound(desk).outcome, desk.mirror.path.readlink()) == ("synced", elsewhere)
    before = elsewhere.stat().st_ino
    assert desk.sync_mirror(rebuild=True).outcome == "synced"
    assert (sound(desk).events, desk.mirror.path.readlink()) == (0, elsewhere)
    assert elsewhere.stat().st_ino != before


@pytest.mark.parametrize("rebuild", [False, True])
def test_what_a_link_leads_to_is_left_alone_where_it_is_no_mirror(
    desk: Desk, tmp_path: Path, rebuild: bool
) -> None:
    path = desk.mirror.path
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "thesis.txt").write_text("my own")
    path.unlink()
    path.symlink_to(elsewhere / "thesis.txt")
    synced = desk.sync_mirror(rebuild=rebuild)
    assert synced.outcome == "failed"
    assert synced.note.startswith("the mirror cannot be written: ")
    assert synced.note.endswith(f"; it is a link to {path.resolve()}, which stays as it is: remove the link")
    assert [one.name for one in elsewhere.iterdir()] == ["thesis.txt"]
    assert ((elsewhere / "thesis.txt").read_text(), path.is_symlink()) == ("my own", True)
    path.unlink()
    assert sound(desk).outcome == "synced"


@pytest.mark.parametrize("kind", ["text", *KINDS])
def test_making_a_mirror_anew_takes_nobody_elses_file_away(desk: Desk, kind: str) -> None:
    path = desk.mirror.path
    if kind == "text":
        path.write_text("my own")
    else:
        put(path, kind)
    before = path.lstat().st_ino
    synced = desk.sync_mirror(rebuild=True)
    what = f"no file but {KINDS[kind]}" if kind in KINDS else "no DuckDB file"
    assert (synced.outcome, synced.note) == (
        "rebuilt",
        f"it was no sound mirror (mirror.duckdb is {what}); it was made anew, the old file is mirror.duckdb.old",
    )
    assert path.with_name("mirror.duckdb.old").lstat().st_ino == before
    assert sound(desk).outcome == "synced"


def test_a_damage_that_shows_when_it_is_read_is_told_with_the_way_out(desk: Desk, tmp_path: Path) -> None:
    path = desk.mirror.path
    whole = path.read_bytes()
    sql = "SELECT * FROM io_log ORDER BY ALL"
    answer = desk.sql(sql, sync=False).fetchall()
    told: set[str] = set()

    def copied() -> bool:
        desk.mirror.snapshot(tmp_path / "snapshot.duckdb")
        return True

    for start in range(3 * 4096, len(whole), 4 * 256 * 1024):  # a header of three pages, then blocks
        path.write_bytes(whole[:start] + bytes(4096) + whole[start + 4096 :])
        asks: list[Callable[[], object]] = [
            lambda: desk.sql(sql, sync=False).fetchall() == answer,
            lambda: desk.mirror.answer(sql, limit=0, seconds=None).rows == answer,
            copied,
            lambda: desk.mirror.differences(desk.ledger) == [],
        ]
        for ask in asks:
            try:
                assert ask()
            except Unavailable as problem:
                told.add(str(problem))
    assert told
    for line in told:
        assert line.startswith(f"there is no usable mirror at {path} (Corrupt database file")
        assert line.endswith("; run: researchdesk mirror sync --rebuild")
    assert desk.sync_mirror(rebuild=True).ok
    assert desk.sql(sql, sync=False).fetchall() == answer


def test_a_mirror_is_asked_and_copied_where_its_lock_cannot_be_opened(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    something(desk, "not synced")
    really: Callable[..., int] = os.open

    def refused(path: Any, *more: Any, **named: Any) -> int:
        if str(path).endswith(".lock"):
            raise PermissionError(13, "Permission denied", str(path))
        return really(path, *more, **named)

    monkeypatch.setattr(os, "open", refused)
    synced = desk.sync_mirror()
    lock = desk.mirror.path.with_name("mirror.duckdb.lock")
    why = f"the mirror cannot be written: Permission denied: {lock}"
    assert (synced.outcome, synced.note) == ("failed", why)
    with pytest.warns(UserWarning, match="Permission denied.*; this is 1 events behind"):
        assert desk.sql("SELECT count(*) FROM claims").fetchall() == [(1,)]
    desk.mirror.snapshot(tmp_path / "copy.duckdb")
    assert len(desk.mirror.export(tmp_path / "export")) > 30


ASK_WHERE_NOTHING_MAY_BE_WRITTEN = """
import sys, warnings
from pathlib import Path
from researchdesk.stores.sqlite.ledger import SqliteLedger
from researchdesk.tools.workspace import Desk

warnings.simplefilter("ignore")
home, ledger, copy = map(Path, sys.argv[1:])
with Desk(home, SqliteLedger(ledger)) as desk:
    print(desk.sql("SELECT count(*) FROM claims").fetchall(), desk.sync_mirror().note, sep="\\t")
    desk.mirror.snapshot(copy)
"""


@pytest.mark.parametrize("has_lock", [True, False])
def test_a_mirror_in_a_folder_that_may_only_be_read_is_asked_and_copied(
    desk: Desk, tmp_path: Path, has_lock: bool
) -> None:
    """As of a desk on a server, whose local folder may only be read."""
    ledger, copy = tmp_path / "ledger.sqlite", tmp_path / "copy.duckdb"
    lock = desk.mirror.path.with_name("mirror.duckdb.lock")
    if not has_lock:
        lock.unlink()
    desk.close()
    (desk.home / "ledger.sqlite").rename(ledger)
    done = read_only(desk.home, python(ASK_WHERE_NOTHING_MAY_BE_WRITTEN, desk.home, ledger, copy))
    said = f"[(1,)]\tthe mirror cannot be written: Read-only file system: {lock}\n"
    assert (done.stdout, done.stderr) == (said, "")
    assert copy.is_file()


ON_A_SMALL_DEVICE = """
import os, shutil, sys
from pathlib import Path
from researchdesk.state.errors import Unavailable
from researchdesk.tools.workspace import open_desk

source, home = map(Path, sys.argv[1:])
(home / "locks").mkdir()
shutil.copy(source / "ledger.sqlite", home)
filling = os.open(home / "filling", os.O_RDWR | os.O_CREAT)

def leave(size):
    os.ftruncate(filling, 0)
    room = os.statvfs(home)
    os.posix_fallocate(filling, 0, room.f_bavail * room.f_frsize - size)

with open_desk(home) as desk:
    leave(100_000)
    print(desk.sync_mirror().note)
    os.ftruncate(filling, 0)
    print(desk.sync_mirror().outcome)
    desk.existing("s5").call("deep_research_status", {}, tool_call_id="more")
    leave(100_000)
    print(desk.sync_mirror(rebuild=True).note)
    for copy in (desk.mirror.snapshot, desk.mirror.export):
        try:
            copy(home / "copy")
        except Unavailable as problem:
            print(problem)
    print(desk.mirror.behind(desk.ledger), desk.sql("FROM claims", sync=False).shape[0])
    os.ftruncate(filling, 0)
    print(desk.sync_mirror().outcome, desk.mirror.differences(desk.ledger), sorted(os.listdir(home)))
"""


def test_a_full_device_is_named_and_what_stands_there_stays(desk: Desk, tmp_path: Path) -> None:
    place = tmp_path / "device"
    place.mkdir()
    desk.close()
    done = small(place, 40, python(ON_A_SMALL_DEVICE, desk.home, place))
    full = "no space is left on the device; free some, then try again"
    assert done.stdout.splitlines() == [
        f"the mirror cannot be written: {full}",
        "synced",
        f"the mirror cannot be written: {full}",
        *[f"cannot write {place / 'copy'}: {full}"] * 2,
        "1 1",
        "synced [] ['.gitignore', 'filling', 'ledger.sqlite', 'ledger.sqlite-shm', 'ledger.sqlite-wal', 'locks', "
        "'mirror.duckdb', 'mirror.duckdb.lock']",
    ], done.stderr
