"""Random investigations: scripts of operations, played one after the other, refused ones left out."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from researchdesk.state import events as ev
from researchdesk.state.challenge_opening import NewChallenge, open_challenge
from researchdesk.state.challenges import STRATEGIES, Result, link_attempt, question_of_challenge
from researchdesk.state.claims import Source, quoted
from researchdesk.state.errors import Refusal
from researchdesk.state.frontier_moves import (
    NewQuestion,
    add,
    attempt,
    depend,
    prune_branch,
    reopen,
    set_priority,
)
from researchdesk.state.ids import content_hash
from researchdesk.state.investigation import Changed, Investigation, start_investigation
from researchdesk.state.investigation_diff import diff
from researchdesk.state.limits import LIMITS, Limits, override
from researchdesk.state.notes import (
    NewAssumption,
    NewClaim,
    NewContradiction,
    NewDatapoint,
    NewGap,
    SourceNote,
    append,
    set_scratch,
)
from researchdesk.state.notes_update import Change, update
from researchdesk.state.outcomes import record_result, refute_claim
from researchdesk.state.questions import Transition
from researchdesk.state.settling import next_question, resolve_question, retry_question
from researchdesk.state.templates import GENERAL
from researchdesk.state.vocabulary import NotesReason

OBJECTIVE = "What should a password policy demand?"
TEXTS = {
    f"s_00{n}": f"Publisher {n} writes: passwords have at least {n + 7} characters, and more. Nothing else {n}."
    for n in range(1, 6)
}
ORIGINS = ("nist.gov", "owasp.org", "nist.gov", "ietf.org", "supplied")
LIMITS_OF_PLAY = override(LIMITS["standard"], max_questions=14, max_attempts=1)


def source(key: str, origin: str, **more: object) -> Source:
    """An archived source of the play."""
    made = Source(
        id=key,
        artifact_id=f"a_{key}",
        url=f"https://{origin}/{key}",
        domain=origin,
        origin=origin,
        title=f"Paper {key}",
        fetched=origin != "supplied",
        readable=True,
    )
    return replace(made, **more)  # type: ignore[arg-type]


SOURCES = tuple(source(key, origin) for key, origin in zip(TEXTS, ORIGINS, strict=True))


@dataclass(frozen=True, kw_only=True)
class Played:
    """One operation that was allowed: the state before and after, its transitions, and the notes' reason."""

    before: Investigation
    after: Investigation
    transitions: tuple[Transition, ...] = ()
    reason: NotesReason | None = None


def begin() -> Changed:
    """The investigation of the play, just begun."""
    return start_investigation(OBJECTIVE, SOURCES)


def play(seed: int, length: int, limits: Limits = LIMITS_OF_PLAY) -> list[Played]:
    """A random script of at most ``length`` operations that were allowed."""
    dice = Random(seed)
    now = begin().investigation
    played: list[Played] = []
    for _ in range(length):
        operation = dice.choice(OPERATIONS)
        before = now
        try:
            changed, reason = operation(dice, now, limits)
        except Refusal:
            assert now == before
            continue
        now = changed.investigation
        played.append(Played(before=before, after=now, transitions=changed.transitions, reason=reason))
    return played


Made = tuple[Changed, NotesReason | None]
Operation = Callable[[Random, Investigation, Limits], Made]


def _question(dice: Random, now: Investigation) -> str:
    return dice.choice([*(q.id for q in now.frontier), "q_999"])


def _claim(dice: Random, now: Investigation) -> str:
    return dice.choice([c.id for c in now.notes.all_claims] or ["c_999"])


def _add(dice: Random, now: Investigation, limits: Limits) -> Made:
    new = NewQuestion(
        text=f"Is rule {dice.randrange(40)} about topic {dice.choice('abcdefgh')} needed?",
        kind=dice.choice(["question", "question", "hypothesis"]),
        priority=dice.randrange(80),
        depends_on=(_question(dice, now),) if dice.random() < 0.3 else (),
        blocks_parent=dice.random() < 0.3,
    )
    parent = now.frontier.working_id if dice.random() < 0.5 else _question(dice, now)
    moved = add(now.frontier, parent, new, limits=limits)
    return Changed(investigation=replace(now, frontier=moved.frontier), transitions=moved.transitions), None


def _depend(dice: Random, now: Investigation, _: Limits) -> Made:
    moved = depend(
        now.frontier, _question(dice, now), dice.choice([now.frontier.working_id, _question(dice, now)])
    )
    return Changed(investigation=replace(now, frontier=moved.frontier), transitions=moved.transitions), None


def _next(_: Random, now: Investigation, __: Limits) -> Made:
    changed = next_question(now, atomic_reason="it is one question")
    return changed, "notes_scratch" if changed.investigation.notes != now.notes else None


def _resolve(dice: Random, now: Investigation, _: Limits) -> Made:
    claims = tuple({_claim(dice, now)} - {"c_999"})
    target = now.frontier.working_id if dice.random() < 0.8 else _question(dice, now)
    return resolve_question(
        now, target, "So it is.", claims, reason=dice.choice(["", "told so", "told so"])
    ), None


def _retry(dice: Random, now: Investigation, limits: Limits) -> Made:
    changed = retry_question(
        now,
        now.frontier.working_id,
        f"query {dice.randrange(99)}",
        "more",
        limits=limits,
        assumption="Suppose so.",
    )
    return changed, "notes_append" if changed.transitions else None


def _attempt(dice: Random, now: Investigation, _: Limits) -> Made:
    kind = dice.choice(["search", "fetch"])
    moved = attempt(
        now.frontier,
        now.frontier.working_id,
        kind=kind,  # type: ignore[arg-type]
        query=f"query {dice.randrange(99)}",
        outcome="ran",
        results=dice.randrange(3),
    )
    return Changed(investigation=replace(now, frontier=moved.frontier)), None


def _reopen(dice: Random, now: Investigation, limits: Limits) -> Made:
    given_up = [q.id for q in now.frontier if q.status == "unresolvable"]
    target = dice.choice(given_up or [_question(dice, now)])
    moved = reopen(now.frontier, target, "news", dice.randrange(50, 101), limits=limits)
    return Changed(investigation=replace(now, frontier=moved.frontier), transitions=moved.transitions), None


def _priority(dice: Random, now: Investigation, _: Limits) -> Made:
    moved = set_priority(now.frontier, _question(dice, now), dice.randrange(101), "so", actor="user")
    return Changed(investigation=replace(now, frontier=moved.frontier), transitions=moved.transitions), None


def _prune(dice: Random, now: Investigation, _: Limits) -> Made:
    moved = prune_branch(now.frontier, _question(dice, now), "no use", actor="user")
    return Changed(investigation=replace(now, frontier=moved.frontier), transitions=moved.transitions), None


def _note(dice: Random, now: Investigation, _: Limits) -> Made:
    key = dice.choice([*TEXTS])
    number = int(key[-1]) + 7
    other = dice.choice(SOURCES)
    links = (
        quoted(now.notes.sources[key], TEXTS[key], f"at least {number} characters", stance="supports"),
        quoted(other, TEXTS[other.id], "and more", stance=dice.choice(["supports", "refutes", "mentions"])),
    )
    section, entry = dice.choice(
        [
            (
                "Unverified",
                NewClaim(
                    text=f"Passwords have {number} characters or more ({dice.randrange(999)}).",
                    kind="figure",
                    value=str(number),
                    unit="characters",
                    question_id=now.frontier.working_id,
                    links=links,
                ),
            ),
            ("Datapoints", NewDatapoint(label="length", value="8", unit="characters", about=key)),
            (
                "Contradictions",
                NewContradiction(claim_id=_claim(dice, now), other_id=key, differs="the number"),
            ),
            ("Assumptions & gaps", NewAssumption(text="People use managers.")),
            ("Assumptions & gaps", NewGap(text="Nobody measured it.", question_id="q_001")),
            ("Sources", SourceNote(source_id=key, note=f"note {dice.randrange(9)}")),
        ]
    )
    noted = append(now.notes, section, (entry,))  # type: ignore[arg-type]
    return Changed(investigation=replace(now, notes=noted.notes)), "notes_append"


def _update(dice: Random, now: Investigation, limits: Limits) -> Made:
    key, other = _claim(dice, now), dice.choice(SOURCES)
    link = quoted(other, TEXTS[other.id], "and more", stance="supports")
    change = dice.choice(
        [
            Change(status="VERIFIED"),
            Change(status="VERIFIED", add_links=(link,)),
            Change(add_links=(link,)),
            Change(add_links=(replace(link, quotes_other_source="s_001"),)),
            Change(status="RETRACTED", reason="wrong"),
            Change(scope="adults"),
        ]
    )
    notes = update(now.notes, key, change, challenges=now.challenges, limits=limits)
    return Changed(investigation=replace(now, notes=notes)), "notes_update"


def _refute(dice: Random, now: Investigation, limits: Limits) -> Made:
    return refute_claim(now, _claim(dice, now), "it is wrong", by="s_002", limits=limits), "notes_update"


def _scratch(dice: Random, now: Investigation, _: Limits) -> Made:
    notes = set_scratch(now.notes, f"thought {dice.randrange(99)}\n## Verified\n### c_001\n")
    return Changed(investigation=replace(now, notes=notes)), "notes_scratch"


def _challenge(dice: Random, now: Investigation, limits: Limits) -> Made:
    kind, target = dice.choice(
        [("claim", _claim(dice, now))] * 3 + [("question_answer", _question(dice, now)), ("conclusion", "")]
    )
    new = NewChallenge(
        target_kind=kind,
        target_id=target,
        strategy=dice.choice(STRATEGIES),
        negation="Nobody demands that",
        expected_if_false="A publisher that demands less",
        query=f"nobody counterexample primary newer {dice.randrange(999)}",
    )
    opened = open_challenge(now.challenges, new, frontier=now.frontier, notes=now.notes, limits=limits)
    now = replace(now, challenges=opened.challenges)
    if dice.random() < 0.8:
        now = search_for(
            now, opened.challenge.id, results=dice.choice([0, 2, 2, 2]), failed=dice.random() < 0.2
        )
    return Changed(investigation=now), None


def search_for(now: Investigation, challenge_id: str, *, results: int, failed: bool = False) -> Investigation:
    """The investigation after the challenge's search ran, or failed."""
    challenge = now.challenges.by_id[challenge_id]
    moved = attempt(
        now.frontier,
        question_of_challenge(challenge, now.notes),
        kind="challenge",
        query=challenge.query,
        outcome="rate limit" if failed else "ran",
        results=0 if failed else results,
        challenge_id=challenge_id,
        cause="infrastructure" if failed else None,
    )
    run = moved.frontier.tried(moved.question_id)[-1]
    linked = link_attempt(now.challenges, challenge_id, run)
    return replace(now, frontier=moved.frontier, challenges=linked.challenges)


def _close(dice: Random, now: Investigation, limits: Limits) -> Made:
    still_open = [c.id for c in now.challenges.open] or ["ch_999"]
    outcome = dice.choice(["survived", "survived", "survived", "weakened", "refuted", "inconclusive"])
    result = Result(outcome=outcome, evidence="the case of it", source_ids=("s_004",))
    return record_result(now, dice.choice(still_open), result, limits=limits), "notes_update"


def _verify(dice: Random, now: Investigation, limits: Limits) -> Made:
    """All that a claim needs, in one call: a further link, a challenge that it survives, and the new status."""
    key, number = _claim(dice, now), len(now.challenges.by_id)
    new = NewChallenge(
        target_kind="claim",
        target_id=key,
        strategy=dice.choice(STRATEGIES),
        negation="Nobody demands that",
        expected_if_false="A publisher that demands less",
        query=f"nobody demands it {number}",
    )
    opened = open_challenge(now.challenges, new, frontier=now.frontier, notes=now.notes, limits=limits)
    now = search_for(replace(now, challenges=opened.challenges), opened.challenge.id, results=3)
    changed = record_result(now, opened.challenge.id, Result(outcome="survived"), limits=limits)
    now = changed.investigation
    links = tuple(quoted(s, TEXTS[s.id], "and more", stance="supports") for s in dice.sample(SOURCES, 2))
    change = Change(status="VERIFIED", add_links=links)
    notes = update(now.notes, key, change, challenges=now.challenges, limits=limits)
    return Changed(investigation=replace(now, notes=notes)), "notes_update"


OPERATIONS: list[Operation] = [
    _add, _add, _add, _add, _depend, _depend, _next, _next, _next, _next, _resolve, _resolve, _retry, _retry,
    _attempt, _reopen, _reopen, _priority, _prune,
    _note, _note, _note, _update, _update, _refute, _scratch, _challenge, _challenge, _close, _close, _verify, _verify,
]  # fmt: skip


def recorded_sources() -> list[ev.Event]:
    """The events that archive the sources of the play."""
    events: list[ev.Event] = []
    for made in SOURCES:
        events += [_artifact(made), _recorded(made)]
    return events


def _artifact(made: Source) -> ev.ArtifactRecorded:
    body = TEXTS[made.id]
    return ev.ArtifactRecorded(
        artifact_id=made.artifact_id,
        role="source",
        name=made.title,
        summary="",
        locator=made.url,
        content_hash=content_hash(body.encode()),
        chars=len(body),
        provenance="fetched" if made.fetched else "supplied",
    )


def _recorded(made: Source) -> ev.SourceRecorded:
    return ev.SourceRecorded(
        source_id=made.id,
        artifact_id=made.artifact_id,
        url=made.url,
        domain=made.domain,
        origin=made.origin,
        origin_reason="",
        title=made.title,
        receipt=_receipt(made) if made.fetched else None,
    )


def _receipt(made: Source) -> ev.Receipt:
    body = TEXTS[made.id].encode()
    return ev.Receipt(
        requested=made.url,
        locator=made.url,
        redirects=(),
        status=200,
        media_type="text/plain",
        charset="utf-8",
        extractor="plain",
        extractor_version="1",
        fetched_at="2026-01-01T00:00:00+00:00",
        raw_hash=content_hash(body),
        raw_bytes=len(body),
        raw_kept=True,
        text_hash=content_hash(body),
        title=made.title,
        sections=(),
        redactions=0,
        readable=made.readable,
        note="",
    )


def opening(limits: Limits = LIMITS_OF_PLAY) -> list[ev.Event]:
    """The events before the investigation: session, run and sources."""
    started = ev.ResearchStarted(objective=OBJECTIVE, scope_level="standard", template=GENERAL, limits=limits)
    return [ev.SessionOpened(session_id="s1"), started, *recorded_sources()]


def happened(seed: int, length: int) -> list[ev.Event]:
    """All events of a random investigation, from the opening of its session."""
    begun = begin()
    nothing = Investigation(notes=begun.investigation.notes)
    events: list[ev.Event] = [*opening(), *diff(nothing, begun.investigation, begun.transitions)]
    for step in play(seed, length):
        events += diff(step.before, step.after, step.transitions, step.reason)
    return events
