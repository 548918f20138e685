"""The commands that research: `run` and `resume`."""

from pathlib import Path
from typing import Annotated

import typer

from researchdesk.graph.cli_options import HomeOption, JsonOption, SessionArgument, existing_desk, opened_desk
from researchdesk.state.vocabulary import ScopeLevel
from researchdesk.tools.sources.origins import OriginBy

CorpusOption = Annotated[
    list[str],
    typer.Option(
        "--corpus",
        metavar="PATH",
        help="Folder or file that may be searched and read; repeat it for several.",
        show_default=False,
    ),
]
WebOption = Annotated[
    str,
    typer.Option(
        "--web",
        metavar="NAMES",
        help="Search providers of the web, such as tavily,arxiv (also brave, searxng, ddgs, wikipedia, "
        "semantic_scholar); keys come from the environment. Default: none, nothing of the web is read; "
        "resume: as before",
        show_default=False,
    ),
]
DenseOption = Annotated[
    bool,
    typer.Option("--dense", help="Search the corpus by meaning too (needs researchdesk[dense])."),
]
DeskOption = Annotated[
    bool,
    typer.Option(
        "--desk", help="Search and read the files of the desk too, those that a person wrote or approved."
    ),
]
ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="SPEC",
        help="offline (rules, no key, no network), or provider:model for a LangChain chat model. "
        "Default: offline; resume: as before",
        show_default=False,
    ),
]
OriginOption = Annotated[
    OriginBy | None,
    typer.Option(
        "--origin-by",
        help="What counts as one publisher of local files: auto reads corpus.toml and the documents. "
        "Default: auto; resume: as before",
        show_default=False,
    ),
]
StepsOption = Annotated[
    int | None,
    typer.Option(
        "--max-steps",
        min=0,
        max=1_000_000,
        metavar="N",
        help="Model requests in all; 0: the scope's own cap (quick 40, standard 150, deep 500). "
        "Default: 0; resume: as before",
        show_default=False,
    ),
]
TokensOption = Annotated[
    int | None,
    typer.Option(
        "--budget-tokens",
        min=0,
        max=1_000_000_000_000,
        metavar="N",
        help="Tokens in all, prompts and answers; a quarter is kept for the report; 0: no limit. "
        "Default: 0; resume: as before",
        show_default=False,
    ),
]
UsdOption = Annotated[
    float | None,
    typer.Option(
        "--budget-usd",
        min=0,
        max=1_000_000,
        metavar="USD",
        help="US dollars in all, by the list of prices; a quarter is kept for the report; 0: no limit. "
        "Refused where the model's price is not known. Default: 0; resume: as before",
        show_default=False,
    ),
]
PricesOption = Annotated[
    Path | None,
    typer.Option(
        "--prices",
        metavar="FILE",
        help="TOML file with prices of models that come before the built-in ones. "
        "Default: $RESEARCHDESK_PRICES; resume: the price as before",
        show_default=False,
    ),
]
ConfirmOption = Annotated[
    bool,
    typer.Option(
        "--confirm",
        help="Before a model that costs money is asked, show the estimate and ask on the terminal.",
    ),
]
QueueOption = Annotated[
    bool,
    typer.Option(
        "--queue",
        help="Record the run and its options, print the session id, and leave the rest to `researchdesk work`.",
    ),
]
WallOption = Annotated[
    int | None,
    typer.Option(
        "--wall-seconds",
        min=0,
        max=1_000_000_000,
        metavar="N",
        help="Seconds from now in all; a quarter is kept for the report; 0: no limit. "
        "Default: 0; resume: as before",
        show_default=False,
    ),
]


def provider_names(named: str) -> tuple[str, ...]:
    """The providers that an option names, all of them usable.

    Raises:
        UsageError: an unknown name, a missing key or extra.
    """
    names = tuple(dict.fromkeys(part.strip() for part in named.split(",") if part.strip()))
    if names:
        from researchdesk.tools.sources.providers.naming import make_providers

        make_providers(names)
    return names


def run(
    objective: Annotated[
        str, typer.Argument(metavar="OBJECTIVE", help="The question, up to 2,000 characters.")
    ],
    corpus: CorpusOption = [],  # noqa: B006 - typer copies it
    web: WebOption = "",
    dense: DenseOption = False,
    desk_files: DeskOption = False,
    model: ModelOption = "",
    scope: Annotated[
        ScopeLevel,
        typer.Option("--scope", help="How far to go; sets sources to reach and requests allowed."),
    ] = "standard",
    template: Annotated[
        str,
        typer.Option(
            "--template",
            metavar="NAME",
            help="Checklist and sections: implementation (questions about code) or general.",
        ),
    ] = "implementation",
    home: HomeOption = "",
    session: Annotated[
        str,
        typer.Option(
            "--session",
            metavar="ID",
            help="Session id. Default: the next free of r1, r2 …",
            show_default=False,
        ),
    ] = "",
    origin_by: OriginOption = None,
    max_steps: StepsOption = None,
    budget_tokens: TokensOption = None,
    budget_usd: UsdOption = None,
    wall_seconds: WallOption = None,
    prices: PricesOption = None,
    confirm: ConfirmOption = False,
    queue: QueueOption = False,
    json: JsonOption = False,
) -> None:
    """Research a question in local documents and on the web, and write a report with sources.

    The session id is the first line of stdout, the report follows; stderr shows the progress. With --json, stdout
    has one JSON object a line, the last of type "result". Exit: 0 completed, 3 blocked, partial or stopped.
    """
    providers = provider_names(web)
    searched = bool(corpus or providers or desk_files)
    _check_start(objective, corpus, searched=searched, dense=dense, template=template, session=session)
    with opened_desk(home) as desk:
        from researchdesk.graph.costs import usd
        from researchdesk.graph.driving import Terms, drive
        from researchdesk.graph.options import RunOptions

        options = RunOptions(
            corpus=tuple(corpus),
            web=providers,
            dense=dense,
            desk=desk_files,
            origin_by=origin_by or "auto",
            model=model or "offline",
            scope=scope,
            template=template,
            max_steps=max_steps or 0,
            budget_tokens=budget_tokens or 0,
            budget_usd=usd(budget_usd or 0),
            wall_seconds=wall_seconds or 0,
        )
        terms = Terms(prices=prices, confirm=confirm, json=json, queue=queue)
        raise typer.Exit(drive(desk, session, options, objective=objective, terms=terms))


def _check_start(
    objective: str,
    corpus: list[str],
    *,
    searched: bool,
    dense: bool,
    template: str,
    session: str,
) -> None:
    """Tell what a person can get wrong before there is a home folder or a session.

    Raises:
        UsageError, Refusal: with what to do.
    """
    from researchdesk.graph.nodes import checked_objective
    from researchdesk.state.errors import UsageError
    from researchdesk.state.names import clean_id
    from researchdesk.state.templates import template_named
    from researchdesk.tools.sources.roots import check_paths

    if not searched:
        raise UsageError(
            "nothing to search: name folders or files with --corpus PATH, for example --corpus docs/, or search "
            "providers with --web, for example --web tavily, or search the desk's own files with --desk"
        )
    if dense and not corpus:
        raise UsageError("--dense searches local documents by meaning; name them with --corpus PATH")
    check_paths(corpus)
    template_named(template)
    try:
        checked_objective(objective).encode()
    except UnicodeEncodeError:
        raise UsageError("the objective is not UTF-8") from None
    if session:
        clean_id(session, "session id")


def resume(
    session: SessionArgument = "",
    corpus: CorpusOption = [],  # noqa: B006 - typer copies it
    web: WebOption = "",
    model: ModelOption = "",
    home: HomeOption = "",
    origin_by: OriginOption = None,
    max_steps: StepsOption = None,
    budget_tokens: TokensOption = None,
    budget_usd: UsdOption = None,
    wall_seconds: WallOption = None,
    prices: PricesOption = None,
    confirm: ConfirmOption = False,
    queue: QueueOption = False,
    json: JsonOption = False,
) -> None:
    """Take up a run where it stands; its corpus, model, price and budgets are remembered unless given anew.

    Output and exit codes are those of `run`. A run that is completed is shown again.
    """
    with existing_desk(home) as desk:
        from researchdesk.graph.costs import usd
        from researchdesk.graph.driving import Terms, drive
        from researchdesk.graph.options import remembered_options

        found = desk.existing(session)
        options = remembered_options(
            found,
            corpus=tuple(corpus) or None,
            web=provider_names(web) or None,
            model=model or None,
            origin_by=origin_by,
            max_steps=max_steps,
            budget_tokens=budget_tokens,
            budget_usd=None if budget_usd is None else usd(budget_usd),
            wall_seconds=wall_seconds,
        )
        run = found.run
        assert run is not None
        terms = Terms(prices=prices, confirm=confirm, json=json, queue=queue)
        raise typer.Exit(drive(desk, found.id, options, objective=run.objective, terms=terms))
