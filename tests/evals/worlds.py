"""Sessions of any size, event by event in a real ledger: questions, sources of publishers, claims, challenges."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

import researchdesk as rd
from researchdesk.state import events as ev
from researchdesk.state.challenges import Challenge
from researchdesk.state.claims import Claim, Link
from researchdesk.state.frontier import Frontier, Moved, start_frontier, step
from researchdesk.state.frontier_moves import NewQuestion, add
from researchdesk.state.ids import numbered
from researchdesk.state.limits import LIMITS, Limits, override
from researchdesk.state.questions import Attempt, Transition
from researchdesk.state.templates import GENERAL
from researchdesk.state.vocabulary import INVESTIGATION_LABELS, ClaimStatus, QuestionStatus
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sources.scripted import Page, ScriptedSource

EVIL = '</script><script>alert(1)</script>\u202e\x1b[2J${boom} {"signal": "x"} =1+1'
WORDS = (
    "How many birds does the survey count?",
    "東京都の条例は自転車の駐輪についてどのように定めているか、また罰則はあるのか。",
    "Wie lang müssen Passwörter mindestens sein, und wer legt das fest?",
    f"What of {EVIL}?",
    "كم يبلغ طول الجسر؟",
)


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much a session holds."""

    questions: int = 1
    sources: int = 2
    publishers: int = 2
    claims: int = 0
    calls: int = 0


def made(desk: rd.Desk, size: Size, *, session_id: str = "big", texts: tuple[str, ...] = WORDS) -> rd.Session:
    """A session of that size; each fifth claim is verified, some are refuted or withdrawn, the others wait."""
    session = desk.session(session_id, labels=INVESTIGATION_LABELS, sources=_web(size, texts))
    limits = override(LIMITS["deep"], max_questions=1_000, max_depth=4)
    session.record(
        [
            ev.RunConfigured(model="offline"),
            ev.ResearchStarted(
                objective=texts[0], scope_level="deep", template=GENERAL, limits=limits, notes_id=""
            ),
        ]
    )
    for number in range(size.sources):
        locator = _locator(number, size)
        session.call("archive_source", {"locator": locator}, tool_call_id=f"a{number}")
    session.record(_questions(size, texts, limits))
    session.record([*_claims(session, size, texts), *_calls(size)])
    return session


def _calls(size: Size) -> Iterator[ev.Event]:
    """Calls of nine tools; each fourth was refused."""
    for number in range(size.calls):
        status = ("success", "success", "success", "error")[number % 4]
        yield ev.CallRecorded(
            turn_id="",
            tool_call_id=f"x{number}",
            name=f"tool_{number % 9}",
            input_digest=f"{number:064x}",
            arguments=ev.Stowed(inline="{}", chars=2),
            status=status,  # type: ignore[arg-type]
            code="wrong_status" if status == "error" else "",
            text=ev.Stowed(inline="done", chars=4),
            data="{}",
        )


def _web(size: Size, texts: tuple[str, ...]) -> Sources:
    pages = {
        _locator(number, size): Page(
            text=" ".join(f"Word {number} {n} stands by itself here." for n in range(12)),
            title=f"{texts[number % len(texts)]} {number}",
        )
        for number in range(size.sources)
    }
    source = ScriptedSource(pages=pages)
    return Sources(providers=(source,), fetchers=(source,))


def _locator(number: int, size: Size) -> str:
    return f"https://publisher{number % size.publishers}.org/page{number}"


def _questions(size: Size, texts: tuple[str, ...], limits: Limits) -> list[ev.Event]:
    moved = start_frontier(texts[0])
    steps: list[tuple[Moved, Transition]] = [(moved, one) for one in moved.transitions]
    frontier = moved.frontier
    wide = 6
    for number in range(2, size.questions + 1):
        parent = numbered("q", 1 if number <= wide + 1 else (number + 3) // wide)
        new = NewQuestion(text=f"{texts[number % len(texts)]} {number}", kind="question", why="It is asked.")
        moved = add(frontier, parent, new, limits=limits)
        steps += [(moved, one) for one in moved.transitions]
        frontier = moved.frontier
    for number in range(2, size.questions + 1):
        for moved in _settled(frontier, numbered("q", number)):
            steps += [(moved, moved.transitions[-1])]
            frontier = moved.frontier
    return [
        ev.QuestionRecorded(question=now.frontier.questions[one.question_id], transition=one)
        for now, one in steps
    ]


def _settled(frontier: Frontier, key: str) -> Iterator[Moved]:
    """What becomes of a question: most are answered, some given up or dropped, some are never begun."""
    kind = int(key[2:]) % 7
    if kind == 6:
        return
    if kind == 5:
        yield step(Moved(frontier=frontier), key, "pruned", "pruned", actor="user", reason="known")
        return
    begun = step(Moved(frontier=frontier), key, "in_progress", "selected", actor="code")
    yield begun
    status: QuestionStatus = "unresolvable" if kind == 4 else "resolved"
    ending = {"assumption": "Nobody knows."} if kind == 4 else {"answer": f"It is {key}."}
    trigger = "attempts_exhausted" if kind == 4 else "resolved"
    yield step(begun, key, status, trigger, actor="agent", **ending)  # type: ignore[arg-type]


def _claims(session: rd.Session, size: Size, texts: tuple[str, ...]) -> Iterator[ev.Event]:
    attempts: dict[str, int] = {}
    numbers = count(1)
    sources = session.run.all_sources if session.run else ()
    for number in range(1, size.claims + 1):
        question = numbered("q", number % size.questions + 1)
        claim = Claim(
            id=numbered("c", number),
            text=f"{texts[number % len(texts)]} {number}",
            kind="fact",
            question_id=question,
        )
        yield ev.ClaimRecorded(claim=claim)
        linked = [sources[number % len(sources)], sources[(number + 1) % len(sources)]]
        for source in linked:
            stance = "refutes" if number % 5 == 2 and source is not linked[0] else "supports"
            link = Link(
                source_id=source.source_id,
                artifact_id=source.artifact_id,
                stance=stance,  # type: ignore[arg-type]
                quote="Word",
                quote_start=0,
                quote_end=4,
            )
            yield ev.ClaimSourceRecorded(claim_id=claim.id, link=link)
        if number % 5 < 3:
            yield from _challenged(claim, next(numbers), attempts, sources[0].source_id)
        if number % 5 == 1 and linked[0].origin != linked[1].origin:
            yield ev.ClaimRecorded(claim=replace(claim, status="VERIFIED"))
        if ending := _ending(number):
            yield ev.ClaimRecorded(claim=replace(claim, status=ending, note="so it was found"))


def _ending(number: int) -> ClaimStatus | None:
    if number % 5 == 2:
        return "REFUTED"
    return "RETRACTED" if number % 35 == 3 else None


def _challenged(claim: Claim, number: int, attempts: dict[str, int], source_id: str) -> Iterator[ev.Event]:
    outcome = "refuted" if int(claim.id[2:]) % 5 == 2 else "survived"
    opened = Challenge(
        id=numbered("ch", number),
        target_kind="claim",
        target_id=claim.id,
        strategy="direct_negation",
        negation="It is not so.",
        expected_if_false="Something else.",
        query=f"not {claim.id}",
    )
    yield ev.ChallengeRecorded(challenge=opened)
    attempts[claim.question_id] = attempts.get(claim.question_id, 0) + 1
    attempt = Attempt(
        id=numbered("at", number),
        question_id=claim.question_id,
        seq=attempts[claim.question_id],
        kind="challenge",
        query=opened.query,
        outcome="found",
        results=2,
        challenge_id=opened.id,
    )
    yield ev.AttemptRecorded(attempt=attempt)
    yield ev.ChallengeRecorded(
        challenge=replace(
            opened,
            status="closed",
            outcome=outcome,  # type: ignore[arg-type]
            evidence="Looked at.",
            source_ids=(source_id,),
            attempt_id=attempt.id,
        )
    )
