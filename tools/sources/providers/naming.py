"""Providers by name, as a person writes them: ``tavily,arxiv``."""

from collections.abc import Callable, Sequence

from researchdesk.state.errors import UsageError
from researchdesk.tools.sources.ports import SearchProvider
from researchdesk.tools.sources.providers.arxiv import Arxiv
from researchdesk.tools.sources.providers.brave import Brave
from researchdesk.tools.sources.providers.ddgs import Ddgs
from researchdesk.tools.sources.providers.searxng import SearxNG
from researchdesk.tools.sources.providers.semantic_scholar import SemanticScholar
from researchdesk.tools.sources.providers.tavily import Tavily
from researchdesk.tools.sources.providers.wikipedia import Wikipedia

_MAKERS: dict[str, Callable[[], Tavily | Brave | SearxNG | Ddgs | Arxiv | Wikipedia | SemanticScholar]] = {
    "tavily": Tavily,
    "brave": Brave,
    "searxng": SearxNG,
    "ddgs": Ddgs,
    "arxiv": Arxiv,
    "wikipedia": Wikipedia,
    "semantic_scholar": SemanticScholar,
}
PROVIDER_NAMES = tuple(_MAKERS)


def make_providers(names: Sequence[str]) -> tuple[SearchProvider, ...]:
    """Make the named search providers, each once, in the given order; keys come from the environment.

    Args:
        names: of `PROVIDER_NAMES`; case, and ``-`` for ``_``, do not matter.

    Raises:
        UsageError: a name that is none, a key that is not set, an extra that is not installed; all are told at once.
    """
    wanted = list(dict.fromkeys(name.strip().lower().replace("-", "_") for name in names))
    unknown = [name for name in wanted if name not in _MAKERS]
    if unknown:
        raise UsageError(
            f"no search provider '{', '.join(unknown)[:200]}'; there are {', '.join(PROVIDER_NAMES)}"
        )
    made = tuple(_MAKERS[name]() for name in wanted)
    problems = [_problem(provider.name, missing) for provider in made if (missing := provider.missing())]
    if problems:
        raise UsageError(" ".join(problems))
    return made


def as_providers(given: Sequence[str | SearchProvider]) -> tuple[SearchProvider, ...]:
    """Those that were given as they are, then those that were named, made as `make_providers` does."""
    named = make_providers([one for one in given if isinstance(one, str)])
    return (*(one for one in given if not isinstance(one, str)), *named)


def _problem(name: str, missing: str) -> str:
    return (
        missing if " " in missing else f"The search provider {name} needs the environment variable {missing}."
    )
