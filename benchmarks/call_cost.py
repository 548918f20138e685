"""What a call costs in a long investigation: ``python benchmarks/call_cost.py [--calls 9] [--repeat 5] [--bound 2]``.

Each kind of call is made in a session that holds 40 questions, 200 claims and 300 sources and in one that was just
begun, in turn and in one process, on fresh copies of both desks. What a call needs beforehand (a question to resolve, a
claim to challenge) is made outside the measured time. Prints the medians and their ratios; exit code 1 when a ratio of
the wall clock is above the bound.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from researchdesk.state.vocabulary import INVESTIGATION_LABELS
from researchdesk.tools.door import Session
from researchdesk.tools.results import ToolResult
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sources.ports import Fetched, Hit, SearchOutcome
from researchdesk.tools.sources.scripted import ScriptedSource
from researchdesk.tools.workspace import Desk, open_desk

QUESTIONS, CLAIMS, SOURCES, SEARCHES = 40, 200, 300, 100
WARM_UP = 3
FIRST = "https://site0.org/"


def sentence(number: int) -> str:
    """What page ``number`` says, and no other."""
    return f"Station {number} of the survey counted {number + 1000} swifts in its meadow."


class Survey(ScriptedSource):
    """Any number of pages of one publisher each; every query finds twelve."""

    def search(self, query: str, *, limit: int) -> SearchOutcome:
        found = tuple(self._hit(number) for number in range(min(12, limit)))
        return SearchOutcome(provider=self.name, hits=found, total=len(found))

    def accepts(self, locator: str) -> bool:
        return True

    def fetch(self, locator: str) -> Fetched:
        number = int(locator.removeprefix("https://site").partition(".")[0])
        words = " ".join(f"w{number}x{n} was seen near the {n % 7}th river." for n in range(120))
        page = {locator: f"{sentence(number)} {words}"}
        return ScriptedSource(pages=page).fetch(locator)

    @staticmethod
    def _hit(number: int) -> Hit:
        return Hit(
            locator=f"https://site{number}.org/",
            title=f"Station {number}",
            snippet=sentence(number),
            start=0,
            score=1.0,
            origin=f"site{number}.org",
            media_type="text/html",
        )


@dataclass(slots=True)
class Caller:
    """Calls tools of one session under new ids; ``number`` tells calls of one kind apart."""

    session: Session
    prefix: str
    number: int = 0
    made: int = field(default=0)

    def __call__(self, tool: str, /, **arguments: Any) -> ToolResult:
        self.made += 1
        result = self.session.call(tool, arguments, tool_call_id=f"{self.prefix}{self.made}")
        if result.status != "success":
            raise SystemExit(f"{tool}: {result.text}")
        return result


# -- the kinds of calls ---------------------------------------------------------------------------------------------

Work = Callable[[], object]
Kind = Callable[[Caller, int], Work]
"""Makes what a call needs and returns the call itself; the number is new each time."""


def question_text(number: int) -> str:
    return f"How many swifts did survey {number} count?"


def claim(number: int) -> dict[str, Any]:
    quote = sentence(0)
    link = {"source_id": "s_001", "stance": "supports", "quote": quote}
    return {"kind": "claim", "text": f"Swifts were counted, note {number}.", "links": [link]}


def add_question(call: Caller, number: int) -> Work:
    return lambda: call("add_question", text=question_text(number), kind="question", why="It is asked.")


def notes_append(call: Caller, number: int) -> Work:
    return lambda: call("notes_append", section="Unverified", entries=[claim(number)])


def challenge(call: Caller, number: int) -> Work:
    noted = call("notes_append", section="Unverified", entries=[claim(number)])
    arguments = {
        "target_kind": "claim",
        "target_id": noted.data["ids"][0],
        "strategy": "direct_negation",
        "negation": "No swift was counted.",
        "expected_if_false": "An empty meadow.",
        "query": f"no swift counted at all {number}",
    }
    return lambda: call("challenge", **arguments)


def record_challenge_result(call: Caller, number: int) -> Work:
    challenge(call, number)()
    opened = call.session.challenges.open[-1]
    call("search_sources", query=opened.query)
    arguments = {"challenge_id": opened.id, "outcome": "survived", "evidence": "It was full."}
    return lambda: call("record_challenge_result", **arguments)


def search_sources(call: Caller, number: int) -> Work:
    return lambda: call("search_sources", query=f"swifts of the year {number}")


def archive_source(call: Caller, number: int) -> Work:
    return lambda: call("archive_source", locator=f"https://site{number}.org/")


def taken_up(call: Caller, number: int) -> str:
    """A new question that is in progress."""
    call("add_question", text=question_text(number), kind="question", why="It is asked.", priority=100)
    return str(call("frontier_next").data["question_id"])


def resolution(key: str) -> dict[str, Any]:
    return {"question_id": key, "answer": "Many.", "claim_ids": ["c_001"], "reason": "It is a benchmark."}


def resolve_question(call: Caller, number: int) -> Work:
    arguments = resolution(taken_up(call, number))
    return lambda: call("resolve_question", **arguments)


def retry_question(call: Caller, number: int) -> Work:
    before = call.session.frontier.current_id
    if before not in ("", "q_001"):
        call("resolve_question", **resolution(before))
    key, query = taken_up(call, number), f"swallows of the year {number}"
    return lambda: call("retry_question", question_id=key, new_query=query, why="There were none.")


def frontier_view(call: Caller, number: int) -> Work:
    return lambda: call("frontier_view")


KINDS: tuple[Kind, ...] = (
    add_question,
    notes_append,
    challenge,
    record_challenge_result,
    search_sources,
    archive_source,
    resolve_question,
    retry_question,
    frontier_view,
)


# -- the two sessions -----------------------------------------------------------------------------------------------


def session_of(desk: Desk) -> Session:
    survey = Survey()
    return desk.session(
        "s", labels=INVESTIGATION_LABELS, sources=Sources(providers=(survey,), fetchers=(survey,))
    )


def seeded(home: Path, *, full: bool) -> None:
    """A desk whose session has one source and one claim, or is full."""
    with open_desk(home) as desk:
        # Nothing of this is kept, so nothing has to reach the disk at once.
        desk.ledger._db.execute("PRAGMA synchronous=OFF")  # type: ignore[attr-defined]
        call = Caller(session_of(desk), "seed")
        call(
            "deep_research_start",
            objective="How many swifts are there?",
            scope_level="deep",
            template="general",
        )
        for tool, arguments in beginnings(full=full):
            call(tool, **arguments)
        if full:
            investigation = call.session.investigation
            held = (
                len(investigation.frontier.questions),
                len(investigation.notes.claims),
                len(investigation.notes.sources),
            )
            assert held == (QUESTIONS, CLAIMS, SOURCES), held


def beginnings(*, full: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    for number in range(SOURCES if full else 1):
        yield "archive_source", {"locator": f"https://site{number}.org/"}
    for number in range(SEARCHES if full else 0):
        yield "search_sources", {"query": f"swifts, seed {number}"}
    for number in range(QUESTIONS - 1 if full else 0):
        yield (
            "add_question",
            {"text": f"Seed: {question_text(-number)}", "kind": "question", "why": "It is asked."},
        )
    for number in range(CLAIMS if full else 1):
        link = {"source_id": f"s_{number + 1:03d}", "stance": "supports", "quote": sentence(number)}
        text = f"Station {number} counted swifts."
        entry = {"kind": "claim", "text": text, "links": [link]}
        yield "notes_append", {"section": "Unverified", "entries": [entry]}


# -- measuring ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Medians of one kind in one session, in microseconds."""

    wall: float
    cpu: float


def measured(kind: Kind, begun: Path, full: Path, *, calls: int, repeat: int) -> tuple[Cost, Cost]:
    """What a kind costs in a session that was just begun and in the full one."""
    wall: tuple[list[int], list[int]] = ([], [])
    cpu: tuple[list[int], list[int]] = ([], [])
    for _ in range(repeat):
        with tempfile.TemporaryDirectory(prefix="call-cost-") as name:
            homes = [Path(name) / "begun", Path(name) / "full"]
            for seed, home in zip((begun, full), homes, strict=True):
                shutil.copytree(seed, home)
            with open_desk(homes[0]) as one, open_desk(homes[1]) as other:
                callers = [Caller(session_of(desk), "m") for desk in (one, other)]
                for number in range(1_000, 1_000 + WARM_UP + calls):
                    for side in ((0, 1), (1, 0))[number % 2]:
                        work = kind(callers[side], number)
                        began, worked = time.perf_counter_ns(), time.thread_time_ns()
                        work()
                        spent = time.thread_time_ns() - worked
                        if number >= 1_000 + WARM_UP:
                            wall[side].append(time.perf_counter_ns() - began)
                            cpu[side].append(spent)
    return _cost(wall[0], cpu[0]), _cost(wall[1], cpu[1])


def _cost(wall: list[int], cpu: list[int]) -> Cost:
    return Cost(wall=statistics.median(wall) / 1000, cpu=statistics.median(cpu) / 1000)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=9, help="calls of each kind on each copy of the desks")
    parser.add_argument("--repeat", type=int, default=5, help="copies of the desks for each kind")
    parser.add_argument("--bound", type=float, default=2.0, help="the ratio that may not be exceeded")
    given = parser.parse_args()
    names = ("begun, wall µs", "full, wall µs", "ratio", "begun, CPU µs", "full, CPU µs", "ratio")
    title = f"{QUESTIONS} questions, {CLAIMS} claims, {SOURCES} sources against a session just begun"
    table = Table("", *names, title=title)
    above = []
    with tempfile.TemporaryDirectory(prefix="call-cost-") as name:
        begun, full = Path(name) / "begun", Path(name) / "full"
        seeded(begun, full=False)
        seeded(full, full=True)
        for kind in KINDS:
            small, large = measured(kind, begun, full, calls=given.calls, repeat=given.repeat)
            ratio = large.wall / small.wall
            table.add_row(
                kind.__name__,
                f"{small.wall:.0f}",
                f"{large.wall:.0f}",
                f"{ratio:.2f}",
                f"{small.cpu:.0f}",
                f"{large.cpu:.0f}",
                f"{large.cpu / small.cpu:.2f}",
            )
            if ratio > given.bound:
                above.append(kind.__name__)
    console = Console()
    console.print(table)
    if above:
        console.print(f"above {given.bound:.1f}: {', '.join(above)}")
        sys.exit(1)


if __name__ == "__main__":
    main()
