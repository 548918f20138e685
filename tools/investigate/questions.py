"""The eight tools of the frontier: what is asked next, and what becomes of a question."""

from dataclasses import replace

from researchdesk.state.envelopes import seal
from researchdesk.state.errors import Refusal
from researchdesk.state.frontier import ROOT, Frontier, Moved
from researchdesk.state.frontier_moves import NewQuestion, add, prune_branch, reopen, set_priority
from researchdesk.state.frontier_summary import summary
from researchdesk.state.ids import CallId
from researchdesk.state.investigation import Changed, Investigation
from researchdesk.state.questions import DEFAULT_PRIORITY, Question
from researchdesk.state.rounds import of_settled
from researchdesk.state.settling import next_question, resolve_question, retry_question
from researchdesk.state.workspace import Workspace
from researchdesk.tools.investigate import arguments as args
from researchdesk.tools.investigate.deciding import decided, opened, seen
from researchdesk.tools.spec import Decision, Gathered

TEXT_SHOWN = 300


def moved_to(now: Investigation, moved: Moved, *told: str) -> Changed:
    """The investigation with the frontier that an operation led to."""
    others = [
        f"{t.question_id} is {t.to_status}" for t in moved.transitions if t.question_id != moved.question_id
    ]
    return Changed(
        investigation=Investigation(frontier=moved.frontier, notes=now.notes, challenges=now.challenges),
        transitions=moved.transitions,
        told=(*told, *others),
    )


def described(question: Question) -> str:
    """A question in one line."""
    waits = f", waits for {', '.join(question.depends_on)}" if question.depends_on else ""
    return (
        f"{question.id} ({question.kind}, {question.status}, depth {question.depth}, priority {question.priority}"
        f"{waits}): {question.text[:TEXT_SHOWN]}"
    )


def decide_next(workspace: Workspace, a: args.FrontierNext, gathered: Gathered, call: CallId) -> Decision:
    """Take up the next question."""
    now, limits = opened(workspace)
    changed = next_question(now, atomic_reason=a.atomic_reason)
    frontier = changed.investigation.frontier
    told = _next_told(frontier, limits.max_attempts)
    return decided(
        now,
        changed,
        kind="question",
        key=frontier.current_id,
        told=told,
        data={"question_id": frontier.current_id},
        reason="notes_scratch",
    )


def _next_told(frontier: Frontier, most: int) -> list[str]:
    if len(frontier.questions) == 1 and frontier.root.status == "in_progress":
        return [f"{described(frontier.root)} Work on it itself now: search, note, challenge and resolve it"]
    if not frontier.current_id:
        left = [q.id for q in frontier if q.status == "blocked"]
        blocked = f"; blocked: {', '.join(left[:20])}" if left else ""
        due = f"; {ROOT} is still to be answered" if frontier.root.status == "in_progress" else ""
        return [f"Every question under {ROOT} is settled or waits for one that was given up{blocked}{due}"]
    question = frontier.questions[frontier.current_id]
    spent = frontier.searches(question.id)
    answer = f" Its answer before: {question.answer[:TEXT_SHOWN]}" if question.answer else ""
    return [f"{described(question)} It has {spent} of {most} searches.{answer}"]


def decide_view(workspace: Workspace, a: args.FrontierView, gathered: Gathered, call: CallId) -> Decision:
    """Show the frontier in a few lines."""
    now, limits = seen(workspace)
    current = now.frontier.current_id
    shown = summary(now.frontier, current, limits)
    return Decision(
        text=seal(shown, tag="investigation_workspace", boundary=gathered.boundary),
        data={"question_id": current},
        entity_type="question",
        entity_id=current,
    )


def decide_add(workspace: Workspace, a: args.AddQuestion, gathered: Gathered, call: CallId) -> Decision:
    """Ask a further question."""
    now, limits = opened(workspace)
    new = NewQuestion(
        text=a.text,
        kind=a.kind,
        why=a.why,
        priority=a.priority or DEFAULT_PRIORITY,
        depends_on=tuple(a.depends_on),
        blocks_parent=a.blocks_parent,
    )
    moved = add(now.frontier, a.parent_id or ROOT, new, limits=limits)
    key = moved.question_id
    told = f"Added {described(moved.frontier.questions[key])}"
    return decided(now, moved_to(now, moved, told), kind="question", key=key, data={"question_id": key})


def decide_retry(workspace: Workspace, a: args.RetryQuestion, gathered: Gathered, call: CallId) -> Decision:
    """Announce another search, or give the question up with an assumption."""
    now, limits = opened(workspace)
    changed = retry_question(now, a.question_id, a.new_query, a.why, limits=limits, assumption=a.assumption)
    question = changed.investigation.frontier.questions[a.question_id]
    given_up = bool(changed.transitions)
    decision = decided(
        now,
        changed,
        kind="question",
        key=a.question_id,
        told=[] if given_up else [f'Search for "{a.new_query}" now'],
        data={"status": question.status},
        reason="notes_append",
    )
    return _recorded(workspace, decision, changed, a.question_id) if given_up else decision


def decide_resolve(
    workspace: Workspace, a: args.ResolveQuestion, gathered: Gathered, call: CallId
) -> Decision:
    """Answer the question in progress."""
    now, _ = opened(workspace)
    changed = resolve_question(now, a.question_id, a.answer, tuple(a.claim_ids), reason=a.reason)
    unproven = [key for key in a.claim_ids if now.notes.claims[key].status == "UNVERIFIED"]
    told = [f"It stands on claims that are not VERIFIED: {', '.join(unproven)}"] if unproven else []
    decision = decided(now, changed, kind="question", key=a.question_id, told=told)
    return _recorded(workspace, decision, changed, a.question_id)


def _recorded(workspace: Workspace, decision: Decision, changed: Changed, question_id: str) -> Decision:
    """The decision that settles a question, with what its round leaves in the run's own record."""
    record = of_settled(workspace, changed.investigation, question_id)
    return replace(decision, events=(*decision.events, *record))


def decide_reopen(workspace: Workspace, a: args.ReopenQuestion, gathered: Gathered, call: CallId) -> Decision:
    """Take up a settled question again."""
    now, limits = opened(workspace)
    priority = a.priority or DEFAULT_PRIORITY
    moved = reopen(now.frontier, a.question_id, a.why, priority, limits=limits)
    told = f"Reopened {described(moved.frontier.questions[a.question_id])}"
    return decided(now, moved_to(now, moved, told), kind="question", key=a.question_id)


def decide_priority(workspace: Workspace, a: args.SetPriority, gathered: Gathered, call: CallId) -> Decision:
    """Change what is asked first."""
    now, _ = opened(workspace)
    if not a.why:
        raise Refusal("invalid_arguments", "why: it is empty. Say why the priority changes.")
    moved = set_priority(now.frontier, a.question_id, a.priority, a.why)
    told = f"{a.question_id} has priority {a.priority}"
    return decided(now, moved_to(now, moved, told), kind="question", key=a.question_id)


def decide_prune(workspace: Workspace, a: args.PruneBranch, gathered: Gathered, call: CallId) -> Decision:
    """Drop a question and what is under it."""
    now, _ = opened(workspace)
    moved = prune_branch(now.frontier, a.question_id, a.reason)
    dropped = [t.question_id for t in moved.transitions if t.trigger == "pruned"]
    told = f"Pruned {', '.join(dropped)}"
    changed = moved_to(now, moved, told)
    others = tuple(line for line in changed.told if not line.endswith(" is pruned"))
    return decided(
        now,
        Changed(investigation=changed.investigation, transitions=changed.transitions, told=others),
        kind="question",
        key=a.question_id,
        data={"pruned": dropped},
    )
