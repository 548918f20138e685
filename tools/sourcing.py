"""Where the sessions of a desk may search and read: local documents, the desk's own files, the web."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from researchdesk.tools.desk_sources import DeskSource
from researchdesk.tools.records import Records
from researchdesk.tools.sources.corpus import Corpus
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sources.ingest import Progress
from researchdesk.tools.sources.origins import OriginBy
from researchdesk.tools.sources.ports import Fetcher, SearchProvider
from researchdesk.tools.sources.roots import listed

if TYPE_CHECKING:
    from researchdesk.tools.sources.web.fetcher import WebFetcher, WebLimits


class Sourcing:
    """The part of a desk that makes sources; add one to another with ``+``."""

    home: Path
    records: Records

    def corpus_sources(
        self,
        paths: str | Path | Sequence[str | Path],
        *,
        origin_by: OriginBy = "auto",
        progress: Progress | None = None,
        dense: bool = False,
    ) -> Sources:
        """Local folders and files as the place to search and read; indexed in ``index.sqlite`` of the home folder.

        Args:
            paths: one path or several.
            dense: search by meaning too (extra ``dense``); the first time this takes a while.

        Raises:
            UsageError: a path does not exist, a `corpus.toml` cannot be read, or the extra is not installed.
        """
        if not paths:
            return Sources()
        index = self.home / "index.sqlite"
        corpus = Corpus(listed(paths), index_path=index, origin_by=origin_by, progress=progress, dense=dense)
        return Sources(providers=(corpus,), fetchers=(corpus,))

    def desk_sources(self, *, origins: Mapping[str, str] | None = None) -> Sources:
        """The desk's own files as the place to search and read: what a person wrote or approved there.

        Args:
            origins: the publisher of what stands in a folder or at a path; all else is one origin, the desk.
        """
        own = DeskSource(self.records, origins=origins)
        return Sources(providers=(own,), fetchers=(own,))

    def web_sources(
        self, providers: Sequence[str | SearchProvider], *, fetcher: Fetcher | None = None
    ) -> Sources:
        """The web as the place to search and read; add it to `corpus_sources` with ``+``.

        Args:
            providers: search providers, or the names of such as `make_providers` knows. One that holds documents
                itself, such as a retriever, reads them too.
            fetcher: what reads the pages; by default `web_fetcher`.

        Raises:
            UsageError: as `make_providers`.
        """
        from researchdesk.tools.sources.providers.naming import as_providers

        searched = as_providers(providers)
        own = [provider for provider in searched if isinstance(provider, Fetcher)]
        return Sources(providers=searched, fetchers=(*own, fetcher or self.web_fetcher()))

    def web_fetcher(
        self,
        *,
        allow: Sequence[str] = (),
        limits: "WebLimits | None" = None,
        robots: bool = True,
        proxy: str = "",
    ) -> "WebFetcher":
        """A reader of web pages that uses again what any session of this desk archived and a server calls unchanged.

        Args:
            allow: addresses and networks of an intranet that may be reached (``10.1.0.0/16``); by default none.
            limits: what a fetch may cost and how hosts are treated.
            robots: whether ``robots.txt`` is followed.
            proxy: URL of an HTTP proxy; those of the environment are not used.
        """
        # Only who fetches pays for loading an HTTP library.
        from researchdesk.tools.sources.web.archive import LedgerArchive
        from researchdesk.tools.sources.web.fetcher import WebFetcher

        archive = LedgerArchive(self.records.ledger)
        return WebFetcher(archive=archive, allow=tuple(allow), limits=limits, robots=robots, proxy=proxy)
