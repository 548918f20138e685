"""A home folder: made at the first opening, and never begun anew over the remains of one that was used."""

from pathlib import Path

import pytest

from researchdesk.state.errors import LedgerCorrupt, Unavailable
from researchdesk.stores.locks import claim_name
from researchdesk.tools.workspace import open_desk

from ..mounts import python, read_only


@pytest.mark.parametrize("remains", ["locks/r1.lock", "reports/r1.md", "index.sqlite", "checkpoints.sqlite"])
def test_an_emptied_ledger_in_a_used_folder_is_no_new_desk(remains: str, tmp_path: Path) -> None:
    open_desk(tmp_path).close()
    (tmp_path / remains).parent.mkdir(exist_ok=True)
    (tmp_path / remains).touch()
    open_desk(tmp_path).close()
    (tmp_path / "ledger.sqlite").write_bytes(b"")
    with pytest.raises(
        LedgerCorrupt, match=r"is empty, yet .* Restore the file from a backup, or move the folder"
    ):
        open_desk(tmp_path)
    assert (tmp_path / "ledger.sqlite").stat().st_size == 0


def test_a_crash_while_the_folder_is_made_leaves_one_that_can_be_opened(tmp_path: Path) -> None:
    (tmp_path / "locks").mkdir()
    (tmp_path / ".gitignore").write_text("*\n")
    (tmp_path / "ledger.sqlite").touch()
    with open_desk(tmp_path) as desk:
        assert desk.sessions() == []


def test_a_lock_that_cannot_be_written_is_one_message(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        session = desk.session("s1")
        (tmp_path / "locks" / "s1.lock").mkdir()
        with pytest.raises(Unavailable, match="cannot write the lock"), desk.driving(session):
            pass
        (tmp_path / "locks" / "s1.lock").rmdir()
        (tmp_path / "locks").rmdir()
        (tmp_path / "locks").touch()
        with pytest.raises(Unavailable, match="cannot write the lock"):
            claim_name(tmp_path / "locks", "r1")


OPEN = """
import sys
from researchdesk.state.errors import Unavailable
from researchdesk.tools.workspace import open_desk
for home in sys.argv[1:]:
    try:
        open_desk(home)
    except Unavailable as problem:
        print(problem)
"""


def test_a_folder_that_may_only_be_read_is_one_message(tmp_path: Path) -> None:
    used, begun = tmp_path / "home" / "used", tmp_path / "home" / "begun"
    open_desk(used).close()
    (begun / "locks").mkdir(parents=True)
    done = read_only(tmp_path / "home", python(OPEN, used, begun, tmp_path / "home" / "new"))
    assert done.stdout.splitlines() == [
        f"the desk in {used} may not be written here, and a ledger is written to while it is read: copy the folder, or "
        "ask the mirror that lies in it (`researchdesk mirror sql`, which needs only to read)",
        f"cannot write to the home folder {begun}: Read-only file system",
        f"cannot make the home folder {tmp_path / 'home' / 'new'}: Read-only file system",
    ], done.stderr
