"""Who publishes a local document: `corpus.toml` says it, else the corpus as a whole is one origin.

```toml
[origins]
"nist/" = "nist.gov"            # the longest folder prefix decides; a file's own path may stand here too
"nist/guest.md" = "ietf.org"
front_matter = true             # lets documents speak for themselves (`origin:` or `publisher:`)
```
"""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from researchdesk.state.errors import UsageError
from researchdesk.tools.sources.files import CorpusRoot
from researchdesk.tools.sources.markup import front_matter
from researchdesk.tools.sources.ports import FetchRefused

OriginBy = Literal["auto", "root", "folder", "file"]
SETTINGS = "corpus.toml"
_EXAMPLE = '[origins]\n"folder/" = "publisher.org"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """A publisher and, for the reader, who says so."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Origins:
    """The rules of one root, the longest prefix first."""

    root: str
    by: OriginBy = "auto"
    rules: tuple[tuple[str, str], ...] = ()
    front_matter: bool = False

    def of(self, path: str, *, stated: str) -> Origin:
        """Decide the origin of a document; ``stated`` is what its own front matter claims, "" for nothing."""
        folder, slash, _ = path.partition("/")
        if self.by == "file":
            return Origin(name=f"{self.root}/{path}", reason="each file is an origin (origin_by)")
        if self.by == "folder":
            return Origin(
                name=f"{self.root}/{folder}" if slash else self.root,
                reason="each folder is an origin (origin_by)",
            )
        if self.by == "root":
            return Origin(name=self.root, reason="the corpus is one origin (origin_by)")
        if self.front_matter and stated:
            return Origin(name=stated, reason=f"front matter, as {SETTINGS} allows")
        for prefix, origin in self.rules:
            if _covers(prefix, path):
                return Origin(name=origin, reason=f"{SETTINGS}: {prefix or '.'}")
        listed = f"not listed in {SETTINGS}" if self.rules else f"no {SETTINGS} declares origins"
        return Origin(name=self.root, reason=f"{listed}; the corpus {self.root!r} counts as one origin")

    def idle(self, paths: Collection[str]) -> tuple[str, ...]:
        """Give the prefixes that none of these documents stands under: most likely misspelled."""
        if self.by != "auto":
            return ()
        return tuple(prefix for prefix, _ in self.rules if not any(_covers(prefix, path) for path in paths))


def _covers(prefix: str, path: str) -> bool:
    return path == prefix or path.startswith(f"{prefix}/") or not prefix


def stated_origin(text: str, *, media_type: str) -> str:
    """Give the publisher that a document's own front matter claims, "" for none."""
    matter = front_matter(text) if media_type == "text/markdown" else {}
    return " ".join((matter.get("origin") or matter.get("publisher") or "").split())[:200]


def read_origins(root: CorpusRoot, *, by: OriginBy = "auto") -> Origins:
    """Read the `corpus.toml` in a root's folder; without one the root is one origin.

    Raises:
        UsageError: the file is no TOML or says something else than origins; names the line.
    """
    try:
        raw, _ = root.read(SETTINGS)
    except FetchRefused as refusal:
        if refusal.code == "fetch_not_found":
            return Origins(root=root.name, by=by)
        raise UsageError(f"{root.folder / SETTINGS}: {refusal.text}") from None
    where = str(root.folder / SETTINGS)
    try:
        text = raw.decode()
        settings = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise UsageError(f"{where}: {problem}; write for example\n{_EXAMPLE}") from None
    return _checked(settings, text, where, Origins(root=root.name, by=by))


def _checked(settings: Mapping[str, Any], text: str, where: str, plain: Origins) -> Origins:
    def wrong(key: str, problem: str) -> UsageError:
        line = next((n for n, line in enumerate(text.split("\n"), 1) if key in line), 1)
        return UsageError(f"{where}, line {line}: {problem}; write for example\n{_EXAMPLE}")

    for key in settings:
        if key not in ("origins", "front_matter"):
            raise wrong(key, f"{key!r} is not known; it may hold [origins] and front_matter")
    origins = settings.get("origins", {})
    if not isinstance(origins, dict):
        raise wrong("origins", "[origins] is a table of folder = publisher")
    allowed = origins.pop("front_matter", settings.get("front_matter", False))
    if not isinstance(allowed, bool):
        raise wrong("front_matter", "front_matter is true or false")
    rules: list[tuple[str, str]] = []
    for prefix, origin in origins.items():
        if not isinstance(origin, str) or not origin.strip():
            raise wrong(prefix, f"the origin of {prefix!r} is not a text")
        segments = [segment for segment in prefix.split("/") if segment not in ("", ".")]
        if prefix.startswith("/") or ".." in segments:
            raise wrong(prefix, f"{prefix!r} is not a path under the corpus")
        rules.append(("/".join(segments), " ".join(origin.split())))
    rules.sort(key=lambda rule: (-len(rule[0]), rule[0]))
    return Origins(root=plain.root, by=plain.by, rules=tuple(rules), front_matter=allowed)
