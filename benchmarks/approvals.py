"""What a change that a person approves costs: ``python benchmarks/approvals.py [--changes 100] [--repeat 5]``.

Proposing a change and approving it (two durable transactions over the session's and the desk's stream) are measured
against the same SQL statements in bare SQLite, interleaved change by change in one process on warm WAL files.
"""

import argparse
import shutil
import tempfile
from pathlib import Path

from sessions import WARM_UP, Side, Timed, interleaved, middle, warm
from showing import Bar, add_no_fail, judge, show
from statements import Statement, recording_ledger, replayed, statements_of

from researchdesk.stores.sqlite.connection import connect
from researchdesk.tools.workspace import Desk, open_desk

FILES = 100


class Changes:
    """Proposes and approves one change after the other on the files of a desk."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.session = desk.session("s", labels=(), profile="desk")
        self.count = 0

    def propose(self) -> str:
        """One more proposal; gives its id."""
        self.count += 1
        file = self.desk.files.get(f"notes/{self.count % FILES}.md")
        change = {
            "file": file.id,
            "base_version": file.content_hash,
            "mode": "append",
            "content": f"Line {self.count}, which says a little more than the one before.",
        }
        result = self.session.call("desk_update_file", change, tool_call_id=f"c{self.count}")
        return str(result.data["proposal_id"])

    def propose_and_approve(self) -> None:
        """One change, from the call that asks for it to the file that has it."""
        proposal = self.desk.proposal(self.propose())
        decided = self.desk.decide(proposal.id, "approve", actor="human:me", proposal_hash=proposal.hash)
        assert decided.status == "executed"


def seeded(home: Path) -> None:
    """A desk with files."""
    with open_desk(home) as desk:
        for n in range(FILES):
            desk.files.put(f"notes/{n}.md", f"# Note {n}\n\n{'Some text. ' * 40}\n", actor="human:me")
        desk.session("s", labels=(), profile="desk")


def recorded(home: Path, *, changes: int) -> list[list[Statement]]:
    """The statements of each of so many changes."""
    ledger = recording_ledger(home)
    with Desk(home, ledger) as desk:
        made = Changes(desk)
        return [statements_of(ledger, made.propose_and_approve) for _ in range(changes)]


def one_round(folder: Path, *, changes: int) -> list[Timed]:
    homes = [folder / name for name in ("recorded", "ours", "bare")]
    for home in homes:
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(folder / "seed", home)
    statements = recorded(homes[0], changes=changes + WARM_UP)
    bare = connect(homes[2] / "ledger.sqlite")
    with open_desk(homes[1]) as desk:
        sides = [
            Side(name="propose and approve", work=Changes(desk).propose_and_approve),
            Side(name="its statements, bare", work=replayed(bare, statements)),
        ]
        interleaved(sides, times=WARM_UP)
        for connection in (desk.ledger._db, bare):  # type: ignore[attr-defined]
            warm(connection)
        timed = interleaved(sides, times=changes)
    bare.close()
    return timed


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--changes", type=int, default=100, help="changes of each side")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where the ledgers lie; a temporary folder otherwise")
    add_no_fail(parser)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="approvals-", dir=given.folder) as name:
        folder = Path(name)
        seeded(folder / "seed")
        rounds = [one_round(folder, changes=given.changes) for _ in range(given.repeat)]
    rows = [
        (
            label,
            f"{middle([r[at].wall for r in rounds]):.0f}",
            f"{middle([r[at].cpu for r in rounds]):.0f}",
            f"{middle([r[at].wall / r[1].wall for r in rounds]):.2f}",
            f"{middle([r[at].cpu / r[1].cpu for r in rounds]):.2f}",
        )
        for at, label in enumerate(("propose and approve", "its statements, bare"))
    ]
    show("one change", ("", "wall µs", "CPU µs", "/ statements", "CPU / statements"), rows)
    value = middle([r[0].wall / r[1].wall for r in rounds])
    judge([Bar(name="propose + approve / its statements", value=value, bar=3.0)], no_fail=given.no_fail)


if __name__ == "__main__":
    main()
