"""How well runs investigate: ``python benchmarks/investigation.py CORPUS QUESTIONS``.

CORPUS is a folder of documents. QUESTIONS is a file with one JSON object a line: ``id``, ``type`` (``agreement`` or
``conflict``), ``question``, and ``evidence``, a list of ``{file, quote, start}``: the passages that a good run finds;
``file`` is the path in the corpus, ``start`` (not needed) the passage's place there in code points. Every question is
researched by `run_research` with its text alone.

Printed for each run: documents archived; evidence files among them; claims; evidence passages that a claim quotes, in
whole or in part; contradictions, and those of two figures with different values in one unit; claims VERIFIED; what
must not be: claims VERIFIED by one publisher alone, claims REFUTED, quotes that do not stand at their place; claims
checked; challenges by outcome; model requests; seconds. The exit code is 1 where a mark is missed, a run has no
report, or something is there that must not be.
"""

import argparse
import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from researchdesk.graph.runner import run_research
from researchdesk.graph.words import outcome
from researchdesk.state.claims import Claim
from researchdesk.state.investigation_views import checked, outcomes
from researchdesk.state.quotes import Span, find_quote
from researchdesk.tools.door import Session
from researchdesk.tools.workspace import Desk, open_desk

OUTCOMES = ("survived", "weakened", "refuted", "inconclusive", "infrastructure", "open")
COLUMNS = {
    "id": 10,
    "type": 9,
    "outcome": 10,
    "docs": 4,
    "files": 5,
    "claims": 6,
    "quotes": 6,
    "contra": 6,
    "figures": 7,
    "verif": 5,
    "1 pub": 5,
    "refut": 5,
    "quote?": 6,
    "checked": 8,
    "s/w/r/i/infra/open": 18,
    "calls": 5,
    "secs": 6,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What one run reached; the names in ``missed`` are files and passages of the evidence."""

    id: str
    type: str
    question: str
    outcome: str
    """``completed``, what stopped a run that has a report nevertheless, ``blocked`` or ``unfinished``."""
    documents: int
    files: int
    files_all: int
    claims: int
    quotes: int
    quotes_all: int
    contradictions: int
    figures: tuple[str, ...]
    """Contradictions of two figures in one unit with different values: "8 against 12 characters (c_001, c_004)"."""
    verified: int
    verified_by_one: tuple[str, ...]
    refuted: tuple[str, ...]
    misplaced: tuple[str, ...]
    challenged: int
    challengeable: int
    challenges: dict[str, int]
    requests: int
    seconds: float
    missed: tuple[str, ...]

    @property
    def forbidden(self) -> int:
        """How much is there that must not be."""
        return len(self.verified_by_one) + len(self.refuted) + len(self.misplaced)


def measure(session: Session, line: dict[str, Any], seconds: float) -> Measured:
    """What a run reached of what its question's line expects."""
    run, held = session.run, session.investigation
    assert run is not None
    by_file = {s.url.removeprefix("file:"): s.source_id for s in run.all_sources}
    wanted = dict.fromkeys(gold["file"] for gold in line["evidence"])
    missed_files = [f"file {name}" for name in wanted if name not in by_file]
    missed_quotes = [
        f"quote in {gold['file']}: {gold['quote']}"
        for gold in line["evidence"]
        if not _quoted(session, by_file.get(gold["file"], ""), gold)
    ]
    covered = checked(held)
    return Measured(
        id=line["id"],
        type=line["type"],
        question=line["question"],
        outcome=run.stop_reason if outcome(run) == "partial" and run.stop_reason else outcome(run),
        documents=len(run.sources),
        files=len(wanted) - len(missed_files),
        files_all=len(wanted),
        claims=len(held.notes.claims),
        quotes=len(line["evidence"]) - len(missed_quotes),
        quotes_all=len(line["evidence"]),
        contradictions=len(held.notes.contradictions),
        figures=tuple(_figures(session)),
        verified=covered.verified,
        verified_by_one=tuple(
            c.id for c in session.claims if c.status == "VERIFIED" and _publishers(session, c) < 2
        ),
        refuted=tuple(c.id for c in session.claims if c.status == "REFUTED"),
        misplaced=tuple(_misplaced(session)),
        challenged=covered.challenged,
        challengeable=covered.total,
        challenges=outcomes(held.challenges),
        requests=session.workspace.called,
        seconds=round(seconds, 1),
        missed=(*missed_files, *missed_quotes),
    )


def _text(session: Session, source_id: str) -> str:
    assert session.run is not None
    artifact = session.run.artifacts[session.run.sources[source_id].artifact_id]
    return session.records.text(artifact.content_hash)


def _quoted(session: Session, source_id: str, gold: dict[str, Any]) -> bool:
    """Whether a claim quotes the passage, in whole or in part."""
    span = _place(_text(session, source_id), gold) if source_id else None
    if span is None:
        return False
    return any(
        link.quote and link.quote_start < span.end and span.start < link.quote_end
        for claim in session.claims
        for link in claim.links
        if link.source_id == source_id
    )


def _place(text: str, gold: dict[str, Any]) -> Span | None:
    """Where the passage stands: at its place in the file, or elsewhere, since archived texts are tidied."""
    start = gold.get("start", -1)
    told = start >= 0 and text.startswith(gold["quote"], start)
    return Span(start=start, end=start + len(gold["quote"])) if told else find_quote(text, gold["quote"])


def _figures(session: Session) -> Iterator[str]:
    claims = session.notes.claims
    for record in session.notes.contradictions.values():
        one, other = claims.get(record.claim_id), claims.get(record.other_id)
        if one is None or other is None or {one.kind, other.kind} != {"figure"}:
            continue
        if one.unit.strip().casefold() == other.unit.strip().casefold() and one.value != other.value:
            yield f"{one.value} against {other.value} {one.unit} ({one.id}, {other.id})"


def _publishers(session: Session, claim: Claim) -> int:
    sources = session.notes.sources
    return len({sources[link.source_id].origin for link in claim.links if link.stance == "supports"})


def _misplaced(session: Session) -> Iterator[str]:
    for claim in session.claims:
        for link in claim.links:
            found = _text(session, link.source_id)[link.quote_start : link.quote_end] if link.quote else ""
            if found != link.quote:
                yield f"{claim.id} {link.source_id}"


def _row(found: Measured) -> list[str]:
    return [
        found.id,
        found.type,
        found.outcome,
        str(found.documents),
        f"{found.files}/{found.files_all}",
        str(found.claims),
        f"{found.quotes}/{found.quotes_all}",
        str(found.contradictions),
        str(len(found.figures)),
        str(found.verified),
        str(len(found.verified_by_one)),
        str(len(found.refuted)),
        str(len(found.misplaced)),
        f"{found.challenged}/{found.challengeable}",
        "/".join(str(found.challenges.get(name, 0)) for name in OUTCOMES),
        str(found.requests),
        f"{found.seconds:.1f}",
    ]


def total(runs: list[Measured]) -> Measured:
    """The sum of all runs, as if they were one."""
    sums = ("documents", "files", "files_all", "claims", "quotes", "quotes_all", "contradictions", "verified")
    sums += ("challenged", "challengeable", "requests")
    lists = ("figures", "verified_by_one", "refuted", "misplaced", "missed")
    return Measured(
        id="total",
        type="",
        question="",
        outcome=f"{sum(run.outcome == 'completed' for run in runs)} completed",
        challenges={name: sum(run.challenges.get(name, 0) for run in runs) for name in OUTCOMES},
        seconds=sum(run.seconds for run in runs),
        **{name: sum(getattr(run, name) for run in runs) for name in sums},
        **{name: tuple(item for run in runs for item in getattr(run, name)) for name in lists},
    )


def show(cells: list[str]) -> None:
    padded = (f"{cell:{width}}" for cell, width in zip(cells, COLUMNS.values(), strict=True))
    print("  ".join(padded).rstrip(), flush=True)


def research(desk: Desk, line: dict[str, Any], given: argparse.Namespace) -> Measured:
    began = time.perf_counter()
    result = run_research(
        desk,
        line["question"],
        corpus=[given.corpus],
        model=given.model,
        scope=given.scope,
        template=given.template,
        session_id=line["id"],
    )
    return measure(desk.existing(result.session_id), line, time.perf_counter() - began)


def details(found: Measured) -> None:
    """What the table only counts."""
    print(f"\n{found.id} ({found.type}): {found.question}")
    for name in ("figures", "verified_by_one", "refuted", "misplaced", "missed"):
        for item in getattr(found, name):
            print(f"  {name.replace('_', ' ')}: {item}")


def failures(runs: list[Measured], given: argparse.Namespace) -> list[str]:
    """The marks that were missed, in words."""
    whole = total(runs)
    answered = sum(bool(run.figures) for run in runs if run.type == "conflict")
    marks = (
        ("evidence files archived", whole.files, given.min_files),
        ("evidence passages quoted", whole.quotes, given.min_quotes),
        ("conflicts shown by two figures", answered, given.min_conflicts),
        ("claims verified", whole.verified, given.min_verified),
    )
    missed = [f"{what}: {have}, wanted {wanted}" for what, have, wanted in marks if have < wanted]
    missed += [f"{run.id} is {run.outcome}" for run in runs if run.outcome in ("blocked", "unfinished")]
    if whole.forbidden:
        missed.append(f"{whole.forbidden} claims or quotes that must not be")
    return missed


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--scope", default="standard", choices=["quick", "standard", "deep"])
    parser.add_argument("--model", default="offline")
    parser.add_argument("--template", default="general")
    parser.add_argument("--limit", type=int, default=None, help="only so many questions")
    parser.add_argument(
        "--only", action="append", help="only the question of this id; may be given several times"
    )
    parser.add_argument("--json", type=Path, help="write what was measured to this file")
    parser.add_argument(
        "--home", type=Path, help="a new home folder for the runs, which stays; each has its question's id"
    )
    for mark in ("files", "quotes", "conflicts", "verified"):
        parser.add_argument(
            f"--min-{mark}", type=int, default=0, help=f"exit with 1 below so many {mark} in total"
        )
    return parser.parse_args()


def main() -> int:
    given = arguments()
    lines = [
        json.loads(line) for line in given.questions.read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    lines = [line for line in lines if not given.only or line["id"] in given.only]
    runs: list[Measured] = []
    with contextlib.ExitStack() as stack:
        home = given.home or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        desk = stack.enter_context(open_desk(home))
        show(list(COLUMNS))
        for line in islice(lines, given.limit):
            runs.append(research(desk, line, given))
            show(_row(runs[-1]))
    show(_row(total(runs)))
    for found in runs:
        details(found)
    if given.json:
        given.json.write_text(json.dumps([asdict(found) for found in runs], indent=1, ensure_ascii=False))
    missed = failures(runs, given)
    print("\n" + ("\n".join(f"MISSED {text}" for text in missed) or "all marks reached"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
