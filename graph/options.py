"""What a run is started with: one value that the factory, the runner and the command line share."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from researchdesk.state import events as ev
from researchdesk.state.errors import UsageError
from researchdesk.state.prices import Price
from researchdesk.state.vocabulary import ScopeLevel
from researchdesk.tools.desk_sources import DeskSource
from researchdesk.tools.door import Session
from researchdesk.tools.sources.corpus import Corpus
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sources.ingest import Progress
from researchdesk.tools.sources.origins import OriginBy
from researchdesk.tools.sources.roots import listed, named_path
from researchdesk.tools.workspace import Desk


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Options of a run; 0 means that a budget is not limited beyond the scope's own caps.

    ``web`` names search providers; without one nothing of the web is read. ``dense`` searches the corpus by meaning
    too, ``desk`` the desk's own files, ``desk_tools`` offers the tools that read them. ``model`` is the name that is
    recorded; the model itself is given apart from it. ``price`` is what it costs, None where nobody knows.
    """

    corpus: tuple[str, ...] = ()
    web: tuple[str, ...] = ()
    dense: bool = False
    origin_by: OriginBy = "auto"
    model: str = "offline"
    scope: ScopeLevel = "standard"
    template: str = "implementation"
    max_steps: int = 0
    budget_tokens: int = 0
    budget_usd: Decimal = Decimal(0)
    wall_seconds: int = 0
    price: Price | None = None
    desk_tools: bool = False
    desk: bool = False

    def recorded(self) -> ev.RunConfigured:
        """The event that lets a later resume find these options."""
        return ev.RunConfigured(
            corpus=self.corpus,
            web=self.web,
            dense=self.dense,
            origin_by=self.origin_by,
            model=self.model,
            max_steps=self.max_steps,
            budget_tokens=self.budget_tokens,
            wall_seconds=self.wall_seconds,
            budget_usd=f"{self.budget_usd.normalize():f}" if self.budget_usd else "",
            price=self.price,
            desk_tools=self.desk_tools,
            desk=self.desk,
        )


def whole_paths(corpus: str | Path | Sequence[str | Path]) -> tuple[str, ...]:
    """The paths as they are recorded: absolute, so that a resume from another folder finds them."""
    return tuple(str(named_path(path)) for path in listed(corpus))


def sources_of(desk: Desk, options: RunOptions, *, progress: Progress | None = None) -> Sources:
    """Where a run with these options may search and read.

    Raises:
        UsageError: as `Desk.corpus_sources` and `Desk.web_sources`.
    """
    found = desk.corpus_sources(
        options.corpus, origin_by=options.origin_by, progress=progress, dense=options.dense
    )
    found += desk.desk_sources() if options.desk else Sources()
    return found + desk.web_sources(options.web) if options.web else found


def check_sources(sources: Sources) -> None:
    """See that a run which begins now has something to read.

    Raises:
        UsageError: all it may search is folders and the desk, and no file in them can be read.
    """
    own = [provider for provider in sources.providers if isinstance(provider, Corpus | DeskSource)]
    if own and len(own) == len(sources.providers) and all(provider.is_empty() for provider in own):
        corpora = (provider for provider in own if isinstance(provider, Corpus))
        named = ", ".join(str(root.folder) for corpus in corpora for root in corpus.roots) or "the desk"
        raise UsageError(
            f"nothing in {named[:300]} can be read; name a folder with documents (Markdown, text, HTML, PDF, Word, "
            "CSV, notebooks or source code), or search the web too"
        )


def remembered_options(
    session: Session,
    *,
    corpus: tuple[str, ...] | None = None,
    web: tuple[str, ...] | None = None,
    model: str | None = None,
    origin_by: OriginBy | None = None,
    max_steps: int | None = None,
    budget_tokens: int | None = None,
    budget_usd: Decimal | None = None,
    wall_seconds: int | None = None,
) -> RunOptions:
    """The options that a session's run was begun or last resumed with; what is given anew replaces them.

    Raises:
        UsageError: the session holds no research.
    """
    workspace = session.workspace
    if workspace.run is None:
        raise UsageError(f"session '{session.id}' holds no research; start one with `researchdesk run`")
    before = workspace.config or ev.RunConfigured()
    same_model = model is None or model == before.model
    return RunOptions(
        corpus=before.corpus if corpus is None else corpus,
        web=before.web if web is None else web,
        dense=before.dense,
        origin_by=origin_by or before.origin_by,  # type: ignore[arg-type]
        model=before.model if model is None else model,
        scope=workspace.run.scope_level,
        template=workspace.run.template.name,
        max_steps=before.max_steps if max_steps is None else max_steps,
        budget_tokens=before.budget_tokens if budget_tokens is None else budget_tokens,
        budget_usd=Decimal(before.budget_usd or 0) if budget_usd is None else budget_usd,
        wall_seconds=before.wall_seconds if wall_seconds is None else wall_seconds,
        price=before.price if same_model else None,
        desk_tools=before.desk_tools,
        desk=before.desk,
    )
