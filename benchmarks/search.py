"""How well and how fast a folder of documents is searched, by words alone and with dense retrieval fused in.

Run with ``python benchmarks/search.py DATA [--dense]``, where DATA holds ``scifact/`` (claims and
abstracts) and ``auth-guidance/``. Judged are the claims that have evidence: each abstract with evidence counts as
relevant. The weights of the rankings were chosen on the training claims, so that the bars hold for the others, the
development claims. Printed are R@5, R@10 and nDCG@10, the time to index, the index's size and the time of a query. The
exit code is 1 where a bar is missed.
"""

import argparse
import json
import lzma
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from researchdesk.tools.sources.corpus import Corpus

BARS = {False: (0.880, 0.835), True: (0.905, 0.850)}
"""R@5 and nDCG@10 of the development claims, without and with dense retrieval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A query and the names of the files that answer it."""

    text: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Means over the queries, and the milliseconds that half of the queries stayed under."""

    recall_5: float
    recall_10: float
    ndcg_10: float
    milliseconds: float


def write_abstracts(scifact: Path, folder: Path) -> None:
    """Write each abstract into a file of ``folder``."""
    with lzma.open(scifact / "corpus.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            abstract = json.loads(line)
            text = f"# {abstract['title']}\n\n{' '.join(abstract['abstract'])}\n"
            (folder / f"{abstract['doc_id']}.md").write_text(text, encoding="utf-8")


def claims_of(scifact: Path, part: str) -> list[Claim]:
    """The claims with evidence of ``train`` or ``dev``."""
    claims = map(json.loads, (scifact / f"claims_{part}.jsonl").read_text(encoding="utf-8").splitlines())
    return [
        Claim(text=claim["claim"], relevant=frozenset(f"file:{name}.md" for name in claim["evidence"]))
        for claim in claims
        if claim["evidence"]
    ]


def judged(corpus: Corpus, claims: Sequence[Claim]) -> Figures:
    """Search every claim and compare what comes first with what is relevant."""
    recalls_5, recalls_10, gains, seconds = [], [], [], []
    for claim in claims:
        began = time.perf_counter()
        hits = corpus.search(claim.text, limit=10).hits
        seconds.append(time.perf_counter() - began)
        found = [name in claim.relevant for name in dict.fromkeys(hit.locator for hit in hits)]
        recalls_5.append(sum(found[:5]) / len(claim.relevant))
        recalls_10.append(sum(found[:10]) / len(claim.relevant))
        ideal = sum(1 / math.log2(rank + 2) for rank in range(min(10, len(claim.relevant))))
        gains.append(sum(1 / math.log2(rank + 2) for rank, hit in enumerate(found) if hit) / ideal)
    return Figures(
        recall_5=statistics.mean(recalls_5),
        recall_10=statistics.mean(recalls_10),
        ndcg_10=statistics.mean(gains),
        milliseconds=statistics.median(seconds) * 1_000,
    )


def searched(folder: Path, claims: dict[str, list[Claim]], index: Path, *, dense: bool) -> dict[str, Figures]:
    """Index a folder, and print what that took and how well its claims are answered."""
    corpus = Corpus([folder], index_path=index, dense=dense)
    report = corpus.refresh()
    way = "words and meaning" if dense else "words"
    print(
        f"{folder.name}, {way}: {report.files} files, indexed in {report.seconds:.1f} s, {report.embedded} embedded, "
        f"{index.stat().st_size / 1e6:.1f} MB"
    )
    corpus.search(folder.name, limit=10)  # the model and the vectors are read at the first query
    found = {part: judged(corpus, some) for part, some in claims.items()}
    for part, one in found.items():
        print(
            f"  {part}: R@5 {one.recall_5:.3f}  R@10 {one.recall_10:.3f}  nDCG@10 {one.ndcg_10:.3f}"
            f"  {one.milliseconds:.0f} ms a query ({len(claims[part])} queries)",
            flush=True,
        )
    corpus.close()
    return found


def is_enough(found: Figures, *, dense: bool) -> bool:
    """Whether the bars are reached; tells which are not."""
    reached = {"R@5": found.recall_5, "nDCG@10": found.ndcg_10}
    low = {name: bar for (name, one), bar in zip(reached.items(), BARS[dense], strict=True) if one < bar}
    for name, bar in low.items():
        print(f"MISSED {name} {reached[name]:.3f}, wanted {bar:.3f}")
    return not low


def main() -> int:
    """Print some lines a collection and way of searching; dense retrieval adds to the index that words alone made."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("data", type=Path)
    options.add_argument("--dense", action="store_true", help="search by meaning too (extra 'dense')")
    given = options.parse_args()
    missed = False
    with tempfile.TemporaryDirectory() as name:
        abstracts = Path(name, "scifact")
        abstracts.mkdir()
        write_abstracts(given.data / "scifact", abstracts)
        claims = {part: claims_of(given.data / "scifact", part) for part in ("train", "dev")}
        for folder, judged_by in ((abstracts, claims), (given.data / "auth-guidance", {})):
            for dense in (False, True)[: 1 + given.dense]:
                index = Path(name, f"{folder.name}.index", "index.sqlite")
                found = searched(folder, judged_by, index, dense=dense).get("dev")
                missed |= found is not None and not is_enough(found, dense=dense)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
