"""What the ids that a body cites stand for: ``[s_003]`` is a source, ``[c_012]`` the sources that support a claim."""

from collections.abc import Iterable, Iterator

from researchdesk.state.claims import Claim
from researchdesk.state.ids import numbered
from researchdesk.state.notes import Notes
from researchdesk.state.run import ResearchRun


def cited_sources(cites: Iterable[str], notes: Notes | None, run: ResearchRun) -> tuple[str, ...]:
    """The ids of the sources behind cited ids, in order of first use; an unknown id stands for none."""
    return tuple(dict.fromkeys(key for cite in cites for key in _sources_of(cite, notes, run)))


def _sources_of(cite: str, notes: Notes | None, run: ResearchRun) -> Iterator[str]:
    claim = notes.claims.get(cite) if notes else None
    if claim is not None:
        yield from _backing(claim)
    elif cite in run.sources:
        yield cite


def _backing(claim: Claim) -> list[str]:
    """The sources that support a claim, else those that mention it; what refutes it is no reference for it."""
    by_stance = {
        stance: [link.source_id for link in claim.links if link.stance == stance]
        for stance in ("supports", "mentions")
    }
    return by_stance["supports"] or by_stance["mentions"]


def uncitable(cites: Iterable[str], notes: Notes | None, run: ResearchRun) -> tuple[str, ...]:
    """Why cited ids cannot be cited, each in words: unknown ones, and claims that no source supports."""
    return tuple(problem for cite in dict.fromkeys(cites) if (problem := _problem(cite, notes, run)))


def _problem(cite: str, notes: Notes | None, run: ResearchRun) -> str:
    if cite.startswith("c_"):
        count = len(notes.claims) if notes else 0
        if notes is not None and cite in notes.claims:
            backed = bool(_backing(notes.claims[cite]))
            lacking = f"[{cite}] has no source that supports it; add one with notes_update add_links"
            return "" if backed else lacking
        return f"[{cite}] is no claim of this run; {_there('c', count)}"
    return (
        "" if cite in run.sources else f"[{cite}] is no source of this run; {_there('s', len(run.sources))}"
    )


def _there(prefix: str, count: int) -> str:
    return f"it has {prefix}_001..{numbered(prefix, count)}" if count else "it has none yet"


def fallen(cites: Iterable[str], notes: Notes | None) -> tuple[str, ...]:
    """The cited claims that are REFUTED or RETRACTED, each as ``c_003 (REFUTED)``."""
    claims = [notes.claims[key] for key in dict.fromkeys(cites) if key in notes.claims] if notes else []
    return tuple(f"{c.id} ({c.status})" for c in claims if c.status in ("REFUTED", "RETRACTED"))
