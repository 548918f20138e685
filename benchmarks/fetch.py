"""What fetching safely costs: 200 pages of the loopback against plain httpx, and what bad servers cost at most.

Run with ``python benchmarks/fetch.py``. Both sides take turns page by page with the same number of threads; the
whole is repeated and the median of the ratios is printed. Hosts' turns are opened so wide that nothing waits.
"""

import contextlib
import gzip
import itertools
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from queue import SimpleQueue

import httpx

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.tools.sources.loopback import HERE, PARAGRAPH, Asked, Route, moved, page, serving, typed

from researchdesk.tools.sources.extract import extract
from researchdesk.tools.sources.ports import FetchRefused
from researchdesk.tools.sources.web.fetcher import WebFetcher, WebLimits

PAGES = 200
THREADS = 8
REPEATS = 7
OPEN = WebLimits(at_once=64, pause=0, connections=64)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


def paired(ours: Callable[[int], object], theirs: Callable[[int], object]) -> tuple[float, float]:
    """Seconds that all pages take on each side, the sides taking turns page by page in each thread."""
    seconds: SimpleQueue[tuple[float, float]] = SimpleQueue()

    def both(number: int) -> None:
        took = [0.0, 0.0]
        for side in (0, 1) if number % 2 else (1, 0):
            began = time.perf_counter()
            (ours, theirs)[side](number)
            took[side] = time.perf_counter() - began
        seconds.put((took[0], took[1]))

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(both, range(PAGES)))
    first, second = zip(*(seconds.get() for _ in range(PAGES)), strict=True)
    return sum(first), sum(second)


def compare() -> None:
    """Print the ratio for the transfer with text made of it on both sides, and for text so short that it is nothing."""
    with serving() as server:
        for number in range(PAGES):
            server.routes[f"/long/{number}"] = typed(page(f"Page {number}. " + PARAGRAPH * 50), "text/html")
            server.routes[f"/short/{number}"] = typed(f"Page {number}.".encode(), "text/plain")
        fetcher = WebFetcher(allow=(HERE,), limits=OPEN)
        limits = httpx.Limits(max_connections=64, max_keepalive_connections=64)
        with httpx.Client(trust_env=False, limits=limits) as client:
            for kind in ("long", "short"):

                def ours(number: int, kind: str = kind) -> object:
                    return fetcher.fetch(server.url(f"/{kind}/{number}"))

                def theirs(number: int, kind: str = kind) -> object:
                    answer = client.get(server.url(f"/{kind}/{number}"))
                    return extract(answer.content, name="page", media_type=answer.headers["content-type"])

                paired(ours, theirs)
                runs = [paired(ours, theirs) for _ in range(REPEATS)]
                ratio = statistics.median(mine / other for mine, other in runs)
                mine, other = (1000 * statistics.median(side) / PAGES for side in zip(*runs, strict=True))
                print(f"{kind:6} {mine:6.2f} ms a page, httpx {other:6.2f} ms, ratio {ratio:.2f}")


def endless(head: bytes, piece: bytes, *, pause: float = 0) -> Callable[[Asked], Iterator[bytes]]:
    """An answer without end."""

    def send(asked: Asked) -> Iterator[bytes]:
        yield head
        for _ in itertools.repeat(None):
            time.sleep(pause)
            yield piece

    return send


def _refused(url: str, answer: "SimpleQueue[tuple[str, float, float]]") -> None:
    extract(page(), name="warm", media_type="text/html")
    fetcher = WebFetcher(allow=(HERE,), robots=False)
    with contextlib.suppress(FetchRefused):
        fetcher.fetch(url + "warm")
    before = _peak()
    began, code = time.perf_counter(), "a page"
    try:
        fetcher.fetch(url)
    except FetchRefused as refusal:
        code = refusal.code
    answer.put((code, time.perf_counter() - began, _peak() - before))


def _peak() -> float:
    """Megabytes that this process held at the most (Linux; what `getrusage` says is the parent's at first)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def survive() -> None:
    """Print how each bad server is refused with the usual limits; the reach is 20 s and 50 MB."""
    bomb = gzip.compress(b"\0" * 1_000_000_000)
    servers: dict[str, Route] = {
        "drip": endless(HEAD + b"\r\n", b"x", pause=0.5),
        "drip in the head": endless(HEAD, b"X", pause=0.5),
        "endless body": endless(HEAD + b"\r\n", b"x" * 65_536),
        "endless tiny chunks": endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 1_000),
        "endless head": endless(HEAD, b"X: y\r\n" * 1_000),
        "endless 100 Continue": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000),
        "bomb": typed(bomb, "text/html", Content_Encoding="gzip"),
        "bomb in a bomb": typed(gzip.compress(bomb), "text/html", Content_Encoding="gzip, gzip"),
        "circle": moved("/circle"),
        "silence": endless(b"", b"", pause=0.5),
    }
    context = get_context("spawn")
    with serving() as server:
        for name, route in servers.items():
            server.routes["/circle"] = server.routes["/bad"] = route
            answer = context.SimpleQueue()
            process = context.Process(target=_refused, args=(server.url("/bad"), answer))
            process.start()
            code, seconds, megabytes = answer.get()
            process.join()
            print(f"{name:22} {code:17} {seconds:5.1f} s {megabytes:6.1f} MB")


if __name__ == "__main__":
    compare()
    survive()
