"""Local documents as a search provider and a fetcher: folders and files that a person allowed a run to read."""

import os
import time
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import RLock

from rapidfuzz import process

from researchdesk.state.locators import UnsafeLocator, parse_locator
from researchdesk.state.queries import Query, parse_query
from researchdesk.tools.sources.dense.embedder import Embedder, MiniLM
from researchdesk.tools.sources.dense.vectors import Vectors
from researchdesk.tools.sources.extract import extract
from researchdesk.tools.sources.files import CorpusRoot
from researchdesk.tools.sources.index import Index, IndexLost
from researchdesk.tools.sources.ingest import Progress, RootReport, refresh_root
from researchdesk.tools.sources.leaveout import REASONS, LeftOut
from researchdesk.tools.sources.origins import OriginBy, Origins, read_origins, stated_origin
from researchdesk.tools.sources.ports import Fetched, FetchRefused, Hit, SearchFailed, SearchOutcome
from researchdesk.tools.sources.ranking import FoundPassage, Nearest
from researchdesk.tools.sources.roots import open_roots

MAX_LIMIT = 200
PASSAGES_A_DOCUMENT = 3
_REFUSED_AS = {"binary": "fetch_unreadable", "too_large": "fetch_too_large"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusReport:
    """What a refresh found: searchable files, how many of them were read anew, what was left out and why.

    The keys of ``left_out`` and ``examples`` are those of `leaveout.REASONS`; ``examples`` names at most three.
    """

    files: int
    indexed: int
    unchanged: int
    removed: int
    left_out: dict[str, int]
    examples: dict[str, tuple[str, ...]]
    seconds: float
    embedded: int = 0
    """Passages that got a vector."""
    idle_origins: tuple[str, ...] = ()
    """Prefixes of a `corpus.toml` that no document stands under."""


class Corpus:
    """The documents under some paths.

    Args:
        paths: folders (read with all below) and single files.
        index_path: where the disposable index stands; its folder is never part of the corpus.
        origin_by: ``auto`` reads `corpus.toml`; ``root``, ``folder`` and ``file`` override it.
        progress: called with (done, total, path) while documents are read.
        dense: rank by meaning too: passages get vectors at the first refresh, which takes a while and is kept in
            the index; True takes the model of the extra ``dense``. Corpus texts in English gain most.

    The first search refreshes the index; call `refresh` for the report, or after documents changed. A locator
    is ``file:<path>``, with several roots ``file:<root>/<path>``. Safe for threads and with other processes.

    Raises:
        UsageError: a path that is empty or does not exist, or a `corpus.toml` that cannot be understood; the
            extra ``dense`` is not installed.
    """

    name = "corpus"

    def __init__(
        self,
        paths: Sequence[str | Path],
        *,
        index_path: Path,
        origin_by: OriginBy = "auto",
        progress: Progress | None = None,
        dense: bool | Embedder = False,
    ) -> None:
        embedder = MiniLM() if dense is True else dense
        self._vectors = Vectors(embedder) if embedder else None
        self.roots = open_roots(paths, without=(index_path.parent,))
        self._index = Index(index_path)
        self._origin_by = origin_by
        self._progress = progress
        self._lock = RLock()
        self._fresh = False
        self._origins = self._read_origins()

    def refresh(self) -> CorpusReport:
        """Bring the index up to date and say what it holds.

        Raises:
            UsageError: `corpus.toml` became unreadable. Unavailable: the index cannot be written.
        """
        started = time.perf_counter()
        with self._lock:
            self._origins = self._read_origins()
            try:
                left_out, reports = self._refresh_roots()
            except IndexLost:
                left_out, reports = self._refresh_roots()
            embedded = self._embed()
            self._fresh = True
        return CorpusReport(
            files=sum(report.files for report in reports),
            indexed=sum(report.indexed for report in reports),
            unchanged=sum(report.unchanged for report in reports),
            removed=sum(report.removed for report in reports),
            left_out=left_out.counts,
            examples=left_out.examples,
            embedded=embedded,
            idle_origins=self._idle_origins(),
            seconds=time.perf_counter() - started,
        )

    def is_empty(self) -> bool:
        """Say whether there is no file at all to be read; the index is not asked."""
        return not any(True for root in self.roots for _ in root.walk(LeftOut()))

    def search(self, query: str, *, limit: int) -> SearchOutcome:
        """Give the documents that answer a query, each with its best passage and where up to two more stand.

        Raises:
            SearchFailed: ``search_bad_query`` where the query holds no word.
        """
        ranked = self._ranked(query, limit=limit)
        shown: Counter[tuple[str, str]] = Counter()
        kept: list[FoundPassage] = []
        for passage in ranked:
            document = (passage.root, passage.path)
            if (document in shown or len(shown) < min(limit, MAX_LIMIT)) and shown[
                document
            ] < PASSAGES_A_DOCUMENT:
                kept.append(replace(passage, body="") if shown[document] else passage)
                shown[document] += 1
        return self._outcome(kept, total=len({(one.root, one.path) for one in ranked}))

    def search_passages(self, query: str, *, limit: int) -> SearchOutcome:
        """Give passages, several of one document where they rank so; raises as `search`."""
        ranked = self._ranked(query, limit=limit)
        return self._outcome(ranked[: max(0, limit)], total=len({(one.root, one.path) for one in ranked}))

    def accepts(self, locator: str) -> bool:
        """Say whether a locator names a local file; whether it is there shows only in `fetch`."""
        try:
            return parse_locator(locator).kind == "file"
        except UnsafeLocator:
            return False

    def fetch(self, locator: str) -> Fetched:
        """Read a document anew from its file, by any spelling: ``file:`` locator, relative or absolute path.

        Raises:
            FetchRefused: ``fetch_not_found`` with the nearest names; ``fetch_unsafe`` outside the roots or for
                a file that is left out; ``fetch_empty``, ``fetch_too_large``, ``fetch_unreadable``.
        """
        root, path = self._resolve(locator)
        if reason := root.why_left_out(path):
            code = _REFUSED_AS.get(reason, "fetch_unsafe")
            raise FetchRefused(code, f"{path!r} is left out of the corpus: {REASONS[reason]}")
        raw, _ = root.read(path)
        extracted = extract(raw, name=path)
        stated = stated_origin(extracted.text, media_type=extracted.media_type)
        origin = self._origins[root.key].of(path, stated=stated)
        spelled = self._locator(root, path)
        return Fetched(
            requested=locator,
            locator=spelled,
            canonical=spelled,
            redirects=(),
            status=0,
            media_type=extracted.media_type,
            charset=extracted.charset,
            raw=raw,
            text=extracted.text,
            extractor=extracted.extractor,
            extractor_version=extracted.extractor_version,
            title=extracted.title,
            sections=extracted.sections,
            origin=origin.name,
            origin_reason=origin.reason,
            domain=origin.name,
            readable=extracted.readable,
            note=extracted.note,
        )

    def origins(self) -> frozenset[str]:
        """Give the origins that the searchable documents have: what a run over this corpus can reach."""
        self._ensure_fresh()
        return frozenset(
            self._origins[root.key].of(path, stated=file.stated_origin).name
            for root in self.roots
            for path, file in self._index.known(root.key).items()
            if not file.left_out
        )

    def close(self) -> None:
        """Let go of the index file."""
        self._index.close()

    def _read_origins(self) -> dict[str, Origins]:
        return {root.key: read_origins(root, by=self._origin_by) for root in self.roots}

    def _idle_origins(self) -> tuple[str, ...]:
        ruled = ((root, rules) for root in self.roots if (rules := self._origins[root.key]).rules)
        return tuple(
            prefix
            for root, rules in ruled
            for prefix in rules.idle(
                [p for p, file in self._index.known(root.key).items() if not file.left_out]
            )
        )

    def _refresh_roots(self) -> tuple[LeftOut, list[RootReport]]:
        left_out = LeftOut()
        return left_out, [
            refresh_root(self._index, root, left_out, progress=self._progress) for root in self.roots
        ]

    def _embed(self) -> int:
        if self._vectors is None:
            return 0
        self._vectors.forget_loaded()
        return self._index.embed(
            self._vectors, roots=[root.key for root in self.roots], progress=self._progress
        )

    def _ensure_fresh(self) -> None:
        with self._lock:
            if not self._fresh:
                self.refresh()

    def _ranked(self, query: str, *, limit: int) -> list[FoundPassage]:
        parsed = parse_query(query)
        if parsed is None:
            raise SearchFailed(
                "search_bad_query", "the query holds no word to search for; name what is looked for"
            )
        self._ensure_fresh()
        # The model knows next to nothing of scripts without spaces.
        nearest = None if parsed.pieces else self._nearest_to(query)
        try:
            return self._ask(parsed, limit, nearest)
        except IndexLost:
            self.refresh()
            return self._ask(parsed, limit, nearest)

    def _nearest_to(self, text: str) -> Nearest | None:
        return self._vectors.nearest(text) if self._vectors is not None else None

    def _ask(self, query: Query, limit: int, nearest: Nearest | None) -> list[FoundPassage]:
        depth = max(100, 8 * min(limit, MAX_LIMIT))
        roots = [root.key for root in self.roots]
        return self._index.search(query, roots=roots, depth=depth, nearest=nearest)

    def _outcome(self, found: list[FoundPassage], *, total: int) -> SearchOutcome:
        by_key = {root.key: root for root in self.roots}
        hits = tuple(
            Hit(
                locator=self._locator(by_key[passage.root], passage.path),
                title=passage.title,
                snippet=passage.body,
                start=passage.start,
                score=passage.score,
                origin=self._origins[passage.root].of(passage.path, stated=passage.stated_origin).name,
                media_type=passage.media_type,
            )
            for passage in found
        )
        return SearchOutcome(provider=self.name, hits=hits, total=total)

    def _locator(self, root: CorpusRoot, path: str) -> str:
        return f"file:{path}" if len(self.roots) == 1 else f"file:{root.name}/{path}"

    def _resolve(self, locator: str) -> tuple[CorpusRoot, str]:
        """Find the root and the real path under it that a locator means."""
        try:
            parsed = parse_locator(locator)
        except UnsafeLocator as refusal:
            raise FetchRefused(refusal.code, refusal.text) from None
        if parsed.kind != "file":
            what = "a web page" if parsed.kind == "web" else "a file of the desk"
            raise FetchRefused("fetch_unsafe", f"{locator!r} is {what}; this corpus holds local files")
        if parsed.value.startswith("/"):
            return self._resolve_absolute(parsed.value)
        there = [
            (root, path) for root, path in self._readings(parsed.value) if os.path.lexists(root.folder / path)
        ]
        if not there:
            raise FetchRefused(
                "fetch_not_found", f"there is no {locator!r} in the corpus{self._nearest(parsed.value)}"
            )
        root, path = there[0]
        if len({root.key for root, _ in there}) > 1 and not parsed.value.startswith(f"{root.name}/"):
            names = ", ".join(self._locator(root, path) for root, path in there)
            raise FetchRefused("fetch_not_found", f"{locator!r} stands in several roots; say which: {names}")
        return root, root.locate(path)

    def _resolve_absolute(self, path: str) -> tuple[CorpusRoot, str]:
        # The innermost root first: a folder that is a root of its own keeps its documents to itself.
        for root in sorted(self.roots, key=lambda root: -len(root.folder.parts)):
            try:
                return root, root.locate(path)
            except FetchRefused:
                continue
        raise FetchRefused("fetch_unsafe", f"{path!r} lies outside the corpus; only its documents are read")

    def _readings(self, value: str) -> list[tuple[CorpusRoot, str]]:
        """Give what a relative path may mean, the canonical reading first; names may be composed either way."""
        head, _, rest = value.partition("/")
        prefixed = [(root, rest) for root in self.roots if root.name == head and rest]
        bare = [(root, value) for root in self.roots]
        ordered = bare + prefixed if len(self.roots) == 1 else prefixed + bare
        forms = ("", "NFC", "NFD")
        return [(root, _composed(path, form)) for root, path in ordered for form in forms]

    def _nearest(self, value: str) -> str:
        names = [self._locator(root, path) for root in self.roots for path in self._index.known(root.key)]
        near = [name for name, score, _ in process.extract(f"file:{value}", names, limit=3) if score >= 60]
        return f"; nearest: {', '.join(near)}" if near else "; search it for what you need"


def _composed(path: str, form: str) -> str:
    if form == "NFC":
        return unicodedata.normalize("NFC", path)
    return unicodedata.normalize("NFD", path) if form else path
