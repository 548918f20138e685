"""How many gold files and gold quotes the offline model reaches: ``python benchmarks/offline_model.py DATA``.

DATA holds ``auth-guidance/`` and ``auth-guidance.questions.jsonl``. The model sees the questions' text alone.
"""

import argparse
import importlib.util
import json
import sys
import time
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]


def fake_desk() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fake_desk", ROOT / "tests/graph/offline/fake_desk.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fake_desk"] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--documents", type=int, nargs="*", default=[10, 15, 25])
    parser.add_argument("--passages", action="store_true", help="searches tell all passages of a document")
    parser.add_argument("--show", action="store_true", help="name what was missed")
    given = parser.parse_args()
    desk = fake_desk()
    folder = given.data / "auth-guidance"
    texts, origins = desk.read_folder(folder), desk.read_origins(folder)
    index = desk.Index(texts)
    lines = (given.data / "auth-guidance.questions.jsonl").read_text().splitlines()
    print("documents  files  quotes  of  noted  in report  seconds  prompt chars")
    for documents in given.documents:
        files = quotes = total = noted = reported = largest = 0
        began = time.perf_counter()
        for line in lines:
            question = json.loads(line)
            run = desk.FakeDesk(
                texts,
                question["question"],
                origins=origins,
                index=index,
                target=documents,
                one_hit_a_document=not given.passages,
            ).run()
            found = run.quotes()
            noted += sum(map(len, found.values()))
            largest = max(largest, *run.sizes)
            for gold in question["evidence"]:
                total += 1
                files += gold["file"] in found
                hit = any(desk.fold(gold["quote"]) in quote for quote in found.get(gold["file"], []))
                quotes += hit
                reported += desk.fold(gold["quote"]) in run.report
                if given.show and not hit:
                    where = "file read" if gold["file"] in found else "file missed"
                    print(f"   {question['id']} {where}: {gold['file']}: {gold['quote']}")
        seconds = time.perf_counter() - began
        print(
            f"{documents:9}  {files:5}  {quotes:6}  {total:2}  {noted:5}  {reported:9}  {seconds:7.1f}  {largest:12,}"
        )


if __name__ == "__main__":
    main()
