"""The commands that look back: `fork` goes on from an earlier event, `falls` says what rests on a source."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from researchdesk.graph.cli_options import HomeOption, JsonOption, SessionArgument, existing_desk
from researchdesk.graph.console import note, result, result_json, result_table

if TYPE_CHECKING:
    from researchdesk.state.falling import Falling, FallingClaim
    from researchdesk.state.vocabulary import Outcome

AtOption = Annotated[
    int | None,
    typer.Option(
        "--at",
        min=1,
        max=2**63 - 1,
        metavar="N",
        help="As of event N (`events` lists them). Default: the last.",
        show_default=False,
    ),
]


def fork(
    session: SessionArgument = "",
    at: AtOption = None,
    new_id: Annotated[
        str,
        typer.Option("--as", metavar="ID", help="The new session's id. Default: the old one's with -at-N."),
    ] = "",
    home: HomeOption = "",
    json: JsonOption = False,
) -> None:
    """Make a new session that holds a session's events up to one of them and goes on from there by itself.

    Nothing is copied twice: archived bodies are shared. `resume` drives the new session, the old one stays as it is.
    """
    with existing_desk(home) as desk:
        old = desk.existing(session)
        seq = len(old.events()) if at is None else at
        made = desk.fork(old.id, seq, new_id=new_id)
        opened = made.workspace.session
        seq = opened.forked_seq if opened else seq
        further = f"`researchdesk resume {made.id}` goes on with it." if made.run else "It holds no research."
    if json:
        result_json({"session_id": made.id, "forked_from": old.id, "forked_seq": seq})
        return
    result(made.id)
    note(f"Session {made.id} holds events 1 to {seq} of {old.id}. {further}")


def falls(
    session: SessionArgument = "",
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without", metavar="SOURCE", help="A source that is thought away (s_003); may be repeated."
        ),
    ] = None,
    flip: Annotated[
        list[str] | None,
        typer.Option(
            "--flip",
            metavar="CHALLENGE=OUTCOME",
            help="Another outcome of a challenge (ch_001=refuted): survived, weakened, refuted or inconclusive.",
        ),
    ] = None,
    at: AtOption = None,
    home: HomeOption = "",
    json: JsonOption = False,
) -> None:
    """Show which claims, answers and sentences of the report lose their support. Nothing is changed."""
    from researchdesk.state.errors import UsageError

    if not without and not flip:
        raise UsageError("name what to take away: --without s_003, or --flip ch_001=refuted")
    with existing_desk(home) as desk:
        found = desk.existing(session)
        shown = found if at is None else found.at(at)
        falling = shown.what_falls(without=without or (), flipped=dict(map(_flipped, flip or ())))
    if json:
        result_json(asdict(falling))
        return
    rows = (
        *((one.id, one.loss, _claim_change(one), one.text) for one in falling.claims),
        *((one.id, one.loss, ", ".join(one.claim_ids), one.text) for one in falling.questions),
        *((one.section, one.loss, ", ".join(one.cites), one.text) for one in falling.sentences),
    )
    if rows:
        result_table(("what", "loss", "why", "text"), rows, prose=("text",))
    note(f"{_counts(falling)} lose support" if rows else "Nothing loses its support.")


def _counts(falling: "Falling") -> str:
    found = (("claim", falling.claims), ("answer", falling.questions), ("sentence", falling.sentences))
    claims, answers, sentences = (f"{len(of)} {name}{'' if len(of) == 1 else 's'}" for name, of in found)
    return f"{claims}, {answers} and {sentences}"


def _claim_change(claim: "FallingClaim") -> str:
    if claim.before != claim.after:
        return f"{claim.before} -> {claim.after}"
    return f"{claim.before}, {'fewer origins' if claim.origins_after else 'no support left'}"


def _flipped(text: str) -> "tuple[str, Outcome]":
    from typing import get_args

    from researchdesk.state.errors import UsageError
    from researchdesk.state.vocabulary import Outcome

    key, _, outcome = text.partition("=")
    if not key or outcome not in get_args(Outcome):
        raise UsageError(
            f"--flip is written CHALLENGE=OUTCOME, such as ch_001=refuted, not {text[:80]!r}; outcomes are "
            f"{', '.join(get_args(Outcome))}"
        )
    return key, outcome  # type: ignore[return-value]
