"""Files written for a person: what stood there before, and what is no plain file."""

import os
import threading
from pathlib import Path

import pytest

from researchdesk.state.errors import Unavailable, UsageError
from researchdesk.tools.writing import whole_file


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def write(target: Path, text: bytes = b"new") -> None:
    with whole_file(target) as file:
        file.write(text)


def test_a_file_is_written_with_the_folders_above_it(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b" / "out.txt")
    assert (tmp_path / "a" / "b" / "out.txt").read_bytes() == b"new"
    assert names(tmp_path / "a" / "b") == ["out.txt"]


def test_a_pipe_gets_the_bytes_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write(pipe)
    reader.join()
    assert (got, pipe.is_fifo()) == ([b"new"], True)
    assert names(tmp_path) == ["pipe"]


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    real, link, dangling = tmp_path / "there" / "real", tmp_path / "link", tmp_path / "dangling"
    real.write_bytes(b"old")
    link.symlink_to(real)
    dangling.symlink_to("there/not-yet")
    write(link)
    write(dangling)
    assert link.is_symlink() and dangling.is_symlink()
    assert (real.read_bytes(), (tmp_path / "there" / "not-yet").read_bytes()) == (b"new", b"new")


def test_a_file_that_fails_half_way_leaves_the_old_one_and_its_mode_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "report"
    target.write_bytes(b"old")
    target.chmod(0o600)
    with pytest.raises(RuntimeError), whole_file(target) as file:
        file.write(b"half")
        raise RuntimeError
    assert (target.read_bytes(), names(tmp_path)) == (b"old", ["report"])
    write(target)
    assert (target.read_bytes(), target.stat().st_mode & 0o777) == (b"new", 0o600)


def test_what_cannot_be_written_is_one_message(tmp_path: Path) -> None:
    write(tmp_path / ("n" * 250))
    with pytest.raises(UsageError, match="is a folder; name a file"):
        write(tmp_path)
    with pytest.raises(UsageError, match="is a folder; name a file"):
        write(Path())
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("n" * 300, "file/x", "loop"):
        with pytest.raises(Unavailable, match="cannot write"):
            write(tmp_path / name)
