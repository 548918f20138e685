"""Processes that use a desk's mirror, to be killed, limited or waited for; run as a script by the tests."""

import resource
import sys
import time

from researchdesk.tools.workspace import open_desk


def again_and_again(home: str) -> None:
    """Sync without end, and make the mirror anew each third time; a line before each."""
    with open_desk(home) as desk:
        for number in range(1_000_000):
            print(number, flush=True)
            desk.sync_mirror(rebuild=number % 3 == 2)


def on_a_full_disk(home: str) -> None:
    """Sync where the mirror may not grow; prints how that ended, and whether the ledger still takes events."""
    with open_desk(home) as desk:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
        synced = desk.sync_mirror()
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        done = desk.existing("s5").call("deep_research_status", {}, tool_call_id="meanwhile")
        print(synced.outcome, done.seq > 0, synced.note, sep="\t", flush=True)


def hold(path: str, read_only: str) -> None:
    """Have a mirror open, as another program would, until stdin ends."""
    import duckdb

    with duckdb.connect(path, read_only=read_only == "yes"):
        print("open", flush=True)
        sys.stdin.read()


def wait_inside_a_sync(home: str) -> None:
    """Sync, and stop for good where the rows are written."""
    from researchdesk.stores.mirror import syncing

    def stop(*_: object) -> int:
        print("inside", flush=True)
        time.sleep(3_600)
        return 0

    setattr(syncing.LiveMirror, "_write_rows", stop)  # noqa: B010 - a method is replaced
    with open_desk(home) as desk:
        desk.sync_mirror()


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    globals()[what](*arguments)
