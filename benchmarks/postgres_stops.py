"""A server that is stopped in the middle of everything: ``python benchmarks/postgres_stops.py [--stops 25]``.

Processes append to a desk on a PostgreSQL server of this script's own, which is stopped at once (as by a power cut of
the server alone) and started again, over and over. Nothing that was acknowledged may be lost, nothing written twice,
no error reach a writer, and a reader that follows the tail has to have seen every event once, in order. It needs
PostgreSQL's own programs (``initdb``, ``pg_ctl``), found by ``PATH`` or by ``--bin``.
"""

import argparse
import contextlib
import itertools
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import traceback
from pathlib import Path
from typing import Any

from showing import Bar, add_no_fail, judge, show

from researchdesk.stores.codec import StoredEvent
from researchdesk.tools.door import Session
from researchdesk.tools.workspace import Desk, open_desk

WRITERS = 4


class Server:
    """A PostgreSQL server in a folder, which only this machine reaches."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs, self._data = programs, folder / "data"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        # It refuses to run as root.
        self._user: dict[str, Any] = {}
        if os.getuid() == 0:
            owner = pwd.getpwnam("postgres")
            os.chown(folder, owner.pw_uid, owner.pw_gid)
            self._user = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
        self._run("initdb", "-D", self._data, "-U", "desk", "-A", "trust", "-E", "UTF8", "--no-locale")

    @property
    def url(self) -> str:
        return f"postgresql://desk@127.0.0.1:{self._port}/postgres?schema=stops"

    def _run(self, program: str, *arguments: str | Path) -> None:
        done = subprocess.run(
            [self._programs / program, *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            check=False,
            **self._user,
        )
        if done.returncode:
            raise SystemExit(f"{program}: {done.stderr.decode()}")

    def start(self) -> None:
        own = f"-p {self._port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c log_min_messages=panic"
        log = self._data.parent / "log"
        self._run("pg_ctl", "start", "-w", "-D", self._data, "-l", log, "-o", own)

    def stop(self, mode: str) -> None:
        self._run("pg_ctl", "stop", "-D", self._data, "-m", mode)


def save(session: Session, name: str) -> None:
    source = {"role": "source", "name": name, "locator": f"file:{name}", "content": name * 200}
    result = session.call("deep_research_save_artifact", source, tool_call_id=name)
    assert result.status == "success", result.text


def writing(url: str, writer: int, into: int) -> None:
    """Append until SIGTERM, half to a session that all share, and tell of each that was acknowledged."""
    stopped: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))
    with open_desk(url) as desk:
        own, shared = desk.existing(f"own{writer}"), desk.existing("shared")
        for n in itertools.count():
            if stopped:
                return
            name = f"w{writer}-{n}"
            save(own if n % 2 else shared, name)
            os.write(into, f"{name}\n".encode())


def forked(url: str, writer: int, into: int) -> int:
    child = os.fork()
    if child:
        return child
    try:
        writing(url, writer, into)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


class Follower(threading.Thread):
    """Reads what is new, again and again, as a mirror does."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(daemon=True)
        self.desk, self.ends = desk, False
        self.seen: list[StoredEvent] = []

    def run(self) -> None:
        while True:
            ends = self.ends
            news = self.desk.ledger.tail(after=self.seen[-1].global_seq if self.seen else 0)
            self.seen += news
            if ends and not news:
                return
            time.sleep(0.002)


class Writers:
    """Processes that write until they are told to stop."""

    def __init__(self, url: str) -> None:
        out, into = os.pipe()
        self._children = [forked(url, writer, into) for writer in range(WRITERS)]
        os.close(into)
        self.told: list[str] = []
        self._reader = threading.Thread(target=lambda: self.told.extend(os.fdopen(out).read().split()))
        self._reader.start()

    def stop(self) -> int:
        """How many of them met an error; ``told`` is what was acknowledged. A second time does nothing."""
        children, self._children = self._children, []
        for child in children:
            os.kill(child, signal.SIGTERM)
        failed = sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0 for child in children)
        self._reader.join()
        return failed


def disturbed(server: Server, *, stops: int) -> list[Bar]:
    dice = random.Random(3)
    with open_desk(server.url) as desk:
        for name in ("shared", *(f"own{n}" for n in range(WRITERS))):
            session = desk.session(name)
            session.call(
                "deep_research_start", {"objective": "Why?", "scope_level": "deep"}, tool_call_id="start"
            )
    writers = Writers(server.url)
    with contextlib.ExitStack() as ends, open_desk(server.url) as desk:
        ends.callback(writers.stop)
        follower = Follower(desk)
        follower.start()
        for _ in range(stops):
            time.sleep(dice.uniform(0.3, 1.0))
            server.stop("immediate")
            server.start()
        failed = writers.stop()
        follower.ends = True
        follower.join()
        return judged(desk, follower.seen, writers.told, failed=failed, stops=stops)


def judged(desk: Desk, seen: list[StoredEvent], told: list[str], *, failed: int, stops: int) -> list[Bar]:
    """What the desk holds, against what was acknowledged and what the follower saw."""
    stored = desk.ledger.tail(limit=1_000_000)
    rows = desk.ledger.query("SELECT id, count(*) AS n FROM tool_calls WHERE id LIKE 'w%' GROUP BY id")
    recorded = {str(row["id"]) for row in rows}
    show(
        "stops",
        ("", ""),
        [("stops", f"{stops}"), ("acknowledged", f"{len(told):,}"), ("events", f"{len(stored):,}")],
    )
    bars = {
        "acknowledged and lost": len(set(told) - recorded),
        "written twice": sum(int(str(row["n"])) != 1 for row in rows),
        "numbers out of place": sum(e.global_seq != n for n, e in enumerate(stored, 1)),
        "missed or disordered at the tail": len(stored) - len(seen)
        if seen == stored[: len(seen)]
        else len(stored),
        "writers that met an error": failed,
        "problems that verify finds": len(desk.verify().problems),
    }
    return [Bar(name=name, value=value, bar=0, unit="") for name, value in bars.items()]


def programs_folder(named: str) -> Path:
    """Where PostgreSQL's programs are."""
    usual = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if named:
        return Path(named)
    if program := shutil.which("initdb"):
        return Path(program).parent
    if not usual:
        raise SystemExit("no initdb in the PATH; name PostgreSQL's folder of programs with --bin")
    return usual[-1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stops", type=int, default=25)
    parser.add_argument("--bin", default="", help="the folder of initdb and pg_ctl")
    add_no_fail(parser)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stops-") as folder:
        os.environ["RESEARCHDESK_HOME"] = str(Path(folder) / "local")
        (own := Path(folder) / "server").mkdir()
        Path(folder).chmod(0o755)  # the server's own user has to get through
        server = Server(programs_folder(given.bin), own)
        server.start()
        try:
            bars = disturbed(server, stops=given.stops)
        finally:
            server.stop("fast")
    judge(bars, no_fail=given.no_fail)


if __name__ == "__main__":
    main()
