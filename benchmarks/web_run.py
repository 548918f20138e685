"""A whole research of a hostile web: ``python benchmarks/web_run.py``, on Linux, with the extra ``dev``.

The web is one of the loopback, on thirty addresses: good pages, moved, blocked, empty, slow, huge, broken ones, packed
bombs, foreign charsets, papers, pages that command their reader, and copies of one page. SearXNG's interface finds
them, a server that speaks Chat Completions answers as a researcher who archives all that was found, believes every
page and does once what a page commands. The fetcher's limits are a tenth of the usual ones.

Printed for each kind of page: how many there are, how many were archived, by which code the others were refused, and
the longest time that one of them took, with all its tries. Then, rule by rule, what must hold of the finished run.
The exit code is 1 where something does not.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from showing import add_no_fail, show
from tests.graph.web_researcher import WebRun, problems, research_the_web
from tests.graph.wild_web import wild_web

from researchdesk.tools.workspace import open_desk


def rows(run: WebRun) -> Iterator[tuple[str, ...]]:
    """One row for each kind of page."""
    for kind in dict.fromkeys(one.place.kind for one in run.outcomes):
        found = [one for one in run.outcomes if one.place.kind == kind]
        codes = Counter(one.code for one in found if one.code)
        archived = sum(one.source is not None for one in found)
        longest = max(one.seconds for one in found)
        told = ", ".join(f"{count} {code}" for code, count in sorted(codes.items()))
        yield kind, str(len(found)), str(archived), told, f"{longest:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_no_fail(parser)
    given = parser.parse_args()
    with (
        wild_web() as web,
        tempfile.TemporaryDirectory(prefix="web-run-") as name,
        open_desk(Path(name) / "desk") as desk,
    ):
        run = research_the_web(desk, web)
        show("pages", ("kind", "pages", "archived", "refused", "longest s"), rows(run))
        wrong = problems(run)
        claims = Counter(claim.status for claim in run.session.claims)
    told = [(rule, "yes" if not found else "NO: " + "; ".join(found[:3])) for rule, found in wrong.items()]
    show("the finished run", ("", "holds"), told)
    counted = ", ".join(f"{count} {status}" for status, count in sorted(claims.items()))
    print(f"{len(run.requests)} model requests in {run.took:.1f} s; claims: {counted}")
    if not given.no_fail and any(wrong.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
