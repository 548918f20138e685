"""A limit for the memory of this process, for commands that run what somebody else wrote."""

import contextlib
import resource
from collections.abc import Iterator
from pathlib import Path

_STATUS = Path("/proc/self/statm")


@contextlib.contextmanager
def memory_limit(more: int) -> Iterator[None]:
    """Within the block the process may take ``more`` bytes beyond what it has; without effect outside of Linux."""
    if not _STATUS.exists():
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(_STATUS.read_text().split()[0]) * resource.getpagesize()
    limits = [taken + more, *(limit for limit in before if limit != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
