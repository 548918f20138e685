"""The commands that look at an investigation and steer it: `questions` and `claims`."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
import typer.core

from researchdesk.graph.cli_options import HomeOption, JsonOption, SessionArgument, existing_desk
from researchdesk.graph.console import note, result_json, result_table
from researchdesk.graph.plain import one_line

if TYPE_CHECKING:
    from researchdesk.state.investigation_views import Checked
    from researchdesk.tools.door import Session
    from researchdesk.tools.steering import Steered, Steering

SessionOption = Annotated[
    str,
    typer.Option(
        "--session", metavar="SESSION", help="Session id. Default: the research session started last"
    ),
]
QuestionArgument = Annotated[str, typer.Argument(metavar="QUESTION", help="The question's id, like q_002.")]
LIST = "list"
ANSWER_SHOWN = 120
"""Characters of an answer, and of what a challenge found, in the table of questions; JSON holds all of it."""


class _Questions(typer.core.TyperGroup):
    """`questions [SESSION]` lists; a word that is a sub-command is one."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Put `list` before what begins with no sub-command."""
        if args[:1] not in [["--help"], ["-h"]] and (not args or args[0] not in self.commands):
            args = [LIST, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_Questions,
    help="Show the questions of a run as a tree, with --attempts what was tried for each; add, prune or reprioritize "
    "them. `questions [SESSION]` is `questions list`, which has further options.",
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command(LIST)
def questions(
    session: SessionArgument = "",
    home: HomeOption = "",
    json: JsonOption = False,
    attempts: Annotated[
        bool,
        typer.Option("--attempts", help="Show each search and fetch under its question, and what it gave."),
    ] = False,
) -> None:
    """List the questions of a run as a tree.

    Each with its status, the searches made for it, how many claims of it and of the questions under it were
    challenged and verified, and its answer or what was assumed instead. --json holds answers whole and always the
    attempts.
    """
    from researchdesk.state.investigation_views import checked_with_parts, questions_view

    with existing_desk(home) as desk:
        held = _investigating(desk.existing(session)).investigation
        found = questions_view(held)
        covered = checked_with_parts(held)
    if json:
        result_json(found)
        return
    result_table(
        ("question", "status", "priority", "searches", "claims", "waits for", "text"),
        (
            row
            for question in found
            for row in _question_rows(question, covered[question["id"]], attempts=attempts)
        ),
        prose=("text",),
    )


def _question_rows(
    question: dict[str, Any], covered: "Checked", *, attempts: bool
) -> Iterator[tuple[str, ...]]:
    """A question, and under it what was tried for it."""
    searches = [a for a in question["attempts"] if a["kind"] != "fetch"]
    failed = sum(a["cause"] == "infrastructure" for a in searches)
    told = one_line(question["answer"] or question["assumption"], limit=ANSWER_SHOWN)
    indent = "· " * question["depth"]
    yield (
        indent + question["id"],
        question["status"],
        str(question["priority"]),
        f"{len(searches)} ({failed} failed)" if failed else str(len(searches)),
        f"{covered.total}, {covered.challenged} challenged, {covered.verified} verified"
        if covered.total
        else "0",
        ", ".join(question["waits_for"]),
        f"{question['text']} -> {told}" if told else question["text"],
    )
    if attempts:
        yield from (_attempt_row(attempt, indent) for attempt in question["attempts"])


def _attempt_row(attempt: dict[str, Any], indent: str) -> tuple[str, ...]:
    came = "" if attempt["results"] is None else str(attempt["results"])
    if attempt["cause"] == "infrastructure":
        came = "failed"
    kind = f"{attempt['kind']} {attempt['challenge_id']}".rstrip()
    told = [attempt["query"], attempt["outcome"], _challenge_text(attempt["challenge"])]
    return (f"{indent}{attempt['id']}", kind, "", came, "", "", " -> ".join(part for part in told if part))


def _challenge_text(challenge: dict[str, str] | None) -> str:
    """How the challenge came out that a search was made for, and what it found."""
    if challenge is None:
        return ""
    evidence = one_line(challenge["evidence"], limit=ANSWER_SHOWN)
    return f"{challenge['outcome']}: {evidence}" if evidence else challenge["outcome"]


def claims(session: SessionArgument = "", home: HomeOption = "", json: JsonOption = False) -> None:
    """List the claims of a run: status, sources, how many of them are independent and why, challenges, what lacks.

    A claim is VERIFIED only with support from independent sources, at least two, and at least one challenge that it
    survived: its search gave results, and nothing in them was judged to speak against it; what was found stands in
    brackets. "5 links, 1 origin: …" names what ties its sources together.
    """
    from dataclasses import asdict

    from researchdesk.graph.words import checked_text, lacking_text
    from researchdesk.state.claim_list import CLAIM_COLUMNS, claim_row
    from researchdesk.state.investigation_views import checked, claims_view, lacking

    with existing_desk(home) as desk:
        opened = _investigating(desk.existing(session))
        assert opened.run is not None
        held, limits = opened.investigation, opened.run.limits
        found = claims_view(held, limits)
    if json:
        result_json(found)
        return
    note(
        "; ".join(
            filter(None, (checked_text(asdict(checked(held))), lacking_text(asdict(lacking(held, limits)))))
        )
    )
    result_table(
        CLAIM_COLUMNS,
        (claim_row(claim) for claim in found),
        prose=("independence", "challenges", "lacks", "text"),
    )


@app.command("add")
def add(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The question.")],
    session: SessionOption = "",
    home: HomeOption = "",
    parent: Annotated[str, typer.Option("--parent", metavar="QUESTION", help="Its parent.")] = "q_001",
    kind: Annotated[
        Literal["question", "hypothesis"], typer.Option("--kind", help="What it is.")
    ] = "question",
    why: Annotated[str, typer.Option("--why", help="What its answer is needed for.")] = "",
    priority: Annotated[int, typer.Option("--priority", min=0, max=100, help="What is asked first.")] = 50,
    depends_on: Annotated[
        list[str] | None,
        typer.Option(
            "--depends-on", metavar="QUESTION", help="Wait for this one; may be given several times."
        ),
    ] = None,
    blocks_parent: Annotated[
        bool, typer.Option("--blocks-parent", help="The parent waits until it is resolved.")
    ] = False,
) -> None:
    """Ask a further question."""
    _steer(
        session,
        home,
        lambda steering: steering.add(
            text,
            parent_id=parent,
            kind=kind,
            why=why,
            priority=priority,
            depends_on=depends_on or (),
            blocks_parent=blocks_parent,
        ),
    )


@app.command("prune")
def prune(
    question: QuestionArgument,
    reason: Annotated[str, typer.Option("--reason", help="Why it is dropped.")],
    session: SessionOption = "",
    home: HomeOption = "",
) -> None:
    """Drop a question and all under it that is not begun or settled."""
    _steer(session, home, lambda steering: steering.prune(question, reason))


@app.command("priority")
def priority(
    question: QuestionArgument,
    value: Annotated[int, typer.Argument(metavar="PRIORITY", min=0, max=100, help="0 to 100.")],
    why: Annotated[str, typer.Option("--why", help="Why it changes.")] = "",
    session: SessionOption = "",
    home: HomeOption = "",
) -> None:
    """Change how soon a question is taken up."""
    _steer(session, home, lambda steering: steering.set_priority(question, value, why))


def _steer(session: str, home: str, change: "Callable[[Steering], Steered]") -> None:
    with existing_desk(home) as desk:
        opened = _investigating(desk.existing(session))
        done = change(opened.steering)
    for step in done.transitions:
        note(f"{step.question_id}  {step.to_status}, priority {step.priority}")
    result_table(
        ("question", "status", "text"), [(done.question.id, done.question.status, done.question.text)]
    )


def _investigating(session: "Session") -> "Session":
    from researchdesk.state.errors import NotFound

    if session.workspace.investigation is None:
        raise NotFound(f"session '{session.id}' keeps no questions and claims")
    return session
