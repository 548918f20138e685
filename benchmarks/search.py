"""How well and how fast a folder of documents is searched, by words alone and with dense retrieval fused in.

Run with ``python benchmarks/search.py DATA [--dense]``, where DATA holds ``scifact/`` (claims and
abstracts) and ``auth-guidance/``. Judged are the development claims that have evidence: each abstract with evidence
counts as relevant. Printed are R@5, R@10 and nDCG@10, the time to index and the time of a query.
"""

import argparse
import json
import lzma
import math
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from researchdesk.tools.sources.corpus import Corpus


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


def scifact(data: Path, folder: Path) -> list[Claim]:
    """Write each abstract into a file of ``folder`` and give the claims with evidence."""
    with lzma.open(data / "scifact" / "corpus.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            abstract = json.loads(line)
            text = f"# {abstract['title']}\n\n{' '.join(abstract['abstract'])}\n"
            (folder / f"{abstract['doc_id']}.md").write_text(text, encoding="utf-8")
    claims = map(json.loads, (data / "scifact" / "claims_dev.jsonl").read_text(encoding="utf-8").splitlines())
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


def searched(folder: Path, claims: Sequence[Claim], index: Path, *, dense: bool) -> None:
    """Index a folder, and print what that took and how well its claims are answered."""
    corpus = Corpus([folder], index_path=index, dense=dense)
    report = corpus.refresh()
    way = "words and meaning" if dense else "words"
    print(
        f"{folder.name}, {way}: {report.files} files, indexed in {report.seconds:.1f} s, {report.embedded} embedded"
    )
    if claims:
        corpus.search(claims[0].text, limit=10)  # the model and the vectors are read at the first query
        found = judged(corpus, claims)
        print(
            f"  R@5 {found.recall_5:.3f}  R@10 {found.recall_10:.3f}  nDCG@10 {found.ndcg_10:.3f}"
            f"  {found.milliseconds:.0f} ms a query ({len(claims)} queries)",
            flush=True,
        )
    corpus.close()


def main() -> None:
    """Print two lines a collection and way of searching; dense retrieval adds to the index that words alone made."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("data", type=Path)
    options.add_argument("--dense", action="store_true", help="search by meaning too (extra 'dense')")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        abstracts = Path(name, "scifact")
        abstracts.mkdir()
        collections = [(abstracts, scifact(given.data, abstracts)), (given.data / "auth-guidance", [])]
        for folder, claims in collections:
            for dense in (False, True)[: 1 + given.dense]:
                searched(folder, claims, Path(name, f"{folder.name}.index", "index.sqlite"), dense=dense)


if __name__ == "__main__":
    main()
