"""A process that copies a desk in small transactions and tells of each, to be killed; run as a script by the tests."""

import sys

from researchdesk.stores import transfer
from researchdesk.tools.workspace import open_desk


def tell(progress: transfer.CopyProgress) -> None:
    """One line for each step."""
    print(progress.stage, flush=True)


if __name__ == "__main__":
    source, target, events = sys.argv[1:]
    transfer.BATCH_EVENTS = int(events)
    with open_desk(source) as desk, open_desk(target) as other:
        desk.copy_to(other, on_progress=tell)
