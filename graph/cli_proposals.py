"""The commands about changes that wait for a person: `proposals list`, `show`, `approve` and `reject`."""

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from researchdesk.graph import desk_proposals as shown
from researchdesk.graph.acting import ActorOption, acting
from researchdesk.graph.cli_options import HomeOption, JsonOption, again, existing_desk
from researchdesk.graph.console import note, result, result_json, result_table, show, show_note
from researchdesk.graph.exits import Exit

if TYPE_CHECKING:
    from researchdesk.graph.desk_proposals import Outcome
    from researchdesk.state.desk.judging import Choice
    from researchdesk.state.desk.proposals import Proposal
    from researchdesk.tools.workspace import Desk

app = typer.Typer(
    help="Changes of the desk that models asked for, and that wait until a person approves or rejects them.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
IdArgument = Annotated[str, typer.Argument(metavar="ID", help="The proposal's id, like p_1a2b3c4d5e6f.")]
IdsArgument = Annotated[
    list[str], typer.Argument(metavar="ID…", help="Ids of proposals, in the order to decide.")
]
HashOption = Annotated[
    str,
    typer.Option(
        "--hash",
        metavar="HASH",
        help="The hash that `proposals show` gave with the diff; anything else is refused, and nobody is asked.",
        show_default=False,
    ),
]
ArgsOption = Annotated[
    str,
    typer.Option(
        "--args",
        metavar="JSON",
        help="Run the call with these arguments; those that are left out stay as they were proposed.",
        show_default=False,
    ),
]


@app.command("list")
def list_(
    status: Annotated[
        shown.StatusName | None,
        typer.Option("--status", help="Only those that stand so.", show_default=False),
    ] = None,
    session: Annotated[
        str,
        typer.Option("--session", metavar="SESSION", help="Only those of this session.", show_default=False),
    ] = "",
    home: HomeOption = "",
    json: JsonOption = False,
) -> None:
    """List proposals, oldest first: what each would do to which file, who asked for it, and how it was decided."""
    with existing_desk(home) as desk:
        found = desk.proposals(status=status, session_id=session)
        now = desk.records.now()
    if json:
        result_json([shown.as_json(one) for one in found])
        return
    result_table(
        ("proposal", "status", "what", "file", "session", "asked at", "decided by", "reason"),
        (
            (
                *(
                    one.id,
                    shown.state(one, now),
                    one.verb,
                    one.path,
                    one.cause.session_id,
                    one.created_at[:19],
                ),
                *(one.decided_by or "-", one.reason or one.error),
            )
            for one in found
        ),
        prose=("file", "decided by", "reason"),
    )
    waiting = [one.id for one in found if one.status == "pending"]
    if waiting:
        note(f"{len(waiting)} waiting: {again(home, 'proposals', 'show', waiting[0])}")
    elif status in (None, "pending"):
        note("nothing waits for a decision")


@app.command("show")
def show_(
    proposal: IdArgument,
    args: ArgsOption = "",
    home: HomeOption = "",
    json: JsonOption = False,
) -> None:
    """Show a proposal: the whole diff, who asked, when, until when it holds, what it builds on, and its hash.

    With --args, the diff and the hash of the same call with other arguments, to be approved with both.
    """
    with existing_desk(home) as desk:
        found = desk.proposal(proposal)
        seen = desk.preview(proposal, shown.edited(desk, found, args))
        arguments = shown.arguments(desk, found)
        state = shown.state(found, desk.records.now())
    if json:
        hashed = {"hash": seen.proposal_hash, "diff": seen.diff, "arguments": arguments}
        result_json({**shown.as_json(found), **hashed})
        return
    show(shown.view(found, seen, state=state))
    if found.status == "pending":
        extra = ("--args", args) if args else ()
        note(again(home, "proposals", "approve", found.id, "--hash", seen.proposal_hash, *extra))


@app.command("approve")
def approve(
    proposals: IdsArgument,
    proposal_hash: HashOption = "",
    args: ArgsOption = "",
    yes: Annotated[
        bool, typer.Option("--yes", help="Approve what is proposed now without being shown it.")
    ] = False,
    actor: ActorOption = "",
    home: HomeOption = "",
    json: JsonOption = False,
) -> None:
    """Let proposed changes be made. On a terminal, the diff is shown and you are asked.

    Without a terminal, --hash has to name the diff that was shown. What is decided is what was shown, or nothing.
    Exit: 0 all were executed; 1 one was not, with what to do then.
    """
    from researchdesk.state.desk.actors import deciding_actor
    from researchdesk.state.errors import UsageError

    who = deciding_actor(acting(actor))
    if len(proposals) > 1 and (proposal_hash or args):
        raise UsageError("--hash and --args are for one proposal; approve them one by one")
    if not (yes or proposal_hash or sys.stdin.isatty()):
        raise UsageError(
            f"nobody can be asked here: look at it with `{again(home, 'proposals', 'show', proposals[0])}` and give "
            "the --hash that it shows; --yes approves unseen"
        )
    with existing_desk(home) as desk:
        ask = not (yes or proposal_hash)
        _tell(
            (
                _approved(desk, one, args, proposal_hash, actor=who, ask=ask, home=home)
                for one in [desk.proposal(given) for given in proposals]
            ),
            json=json,
        )


@app.command("reject")
def reject(
    proposals: IdsArgument,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why not; the model that asked is told it.")
    ],
    actor: ActorOption = "",
    home: HomeOption = "",
    json: JsonOption = False,
) -> None:
    """Refuse proposed changes; nothing is changed, and the model is told why."""
    from researchdesk.state.desk.actors import deciding_actor
    from researchdesk.state.errors import UsageError

    who = deciding_actor(acting(actor))
    if not reason.strip():
        raise UsageError("say why with --reason: the model is told it, so that it does not ask again")
    with existing_desk(home) as desk:
        _tell(
            (
                _decided(desk, one.id, "reject", one.hash, actor=who, reason=reason, home=home)
                for one in [desk.proposal(given) for given in proposals]
            ),
            json=json,
        )


def _approved(
    desk: "Desk", found: "Proposal", args: str, proposal_hash: str, *, actor: str, ask: bool, home: str
) -> "Outcome":
    """The outcome of one approval; where ``ask``, after its diff was shown and a person said yes."""
    edited = shown.edited(desk, found, args)
    if proposal_hash or found.status != "pending":
        given = proposal_hash or found.hash
        return _decided(desk, found.id, "approve", given, actor=actor, edited=edited, home=home)
    seen = desk.preview(found.id, edited)
    if ask:
        show_note(shown.view(found, seen, state=shown.state(found, desk.records.now())))
        if not typer.confirm("approve?", default=False, err=True):
            return shown.left(found)
    return _decided(desk, found.id, "approve", seen.proposal_hash, actor=actor, edited=edited, home=home)


def _decided(
    desk: "Desk",
    proposal: str,
    decision: "Choice",
    proposal_hash: str,
    *,
    actor: str,
    reason: str = "",
    edited: "Mapping[str, Any] | None" = None,
    home: str,
) -> "Outcome":
    from researchdesk.state.errors import Refusal

    try:
        decided = desk.decide(
            proposal, decision, actor=actor, proposal_hash=proposal_hash, reason=reason, edited_args=edited
        )
    except Refusal as refusal:
        return shown.refused(desk.proposal(proposal), refusal, home=home)
    return shown.came_of(decided, decision, home=home)


def _tell(outcomes: "Iterable[Outcome]", *, json: bool) -> None:
    """Tell each outcome as soon as it is there; a JSON document at the end."""
    told = []
    for outcome in outcomes:
        told.append(outcome)
        if not json:
            result(f"{outcome.proposal_id}  {outcome.status}  {outcome.text}")
        if outcome.next:
            note(f"{outcome.proposal_id}: {outcome.next}")
    if json:
        result_json([outcome.as_json() for outcome in told])
    if not all(outcome.ok for outcome in told):
        raise typer.Exit(Exit.FAILED)
