"""The notebooks run as they stand, offline, and what they show is what their texts say."""

import importlib.util
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest
from lxml import etree

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "notebooks"
SVG = "{http://www.w3.org/2000/svg}"
LARGEST = 300_000


@pytest.fixture(scope="module")
def refresh() -> ModuleType:
    """The script that executes notebooks and cleans what they show."""
    spec = importlib.util.spec_from_file_location("refresh", FOLDER / "refresh.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Shown:
    """What a notebook shows, each found by what stands in its cell."""

    def __init__(self, node: Any) -> None:
        self.cells = [cell for cell in node.cells if cell.cell_type == "code"]

    def outputs(self, code: str) -> Iterator[Any]:
        """The outputs of the cell that is this code, or else of the only one that has it."""
        whole = [cell for cell in self.cells if cell.source == code]
        (cell,) = whole or [cell for cell in self.cells if code in cell.source]
        yield from cell.outputs

    def text(self, code: str) -> str:
        """What a cell printed, or its value as text or Markdown."""
        (output,) = self.outputs(code)
        return str(output.get("text") or output.data.get("text/plain") or output.data["text/markdown"])

    def tables(self, code: str) -> list[list[str]]:
        """The rows of a cell's tables."""
        (output,) = self.outputs(code)
        rows = etree.HTML(output.data["text/html"]).iter("tr")
        return [["".join(cell.itertext()) for cell in row if cell.tag == "td"] for row in rows]

    def column(self, code: str, place: int) -> list[str]:
        """One column of a cell's tables, without their heads."""
        return [row[place] for row in self.tables(code) if len(row) > place]

    def marks(self, code: str) -> list[str]:
        """What the marks of a picture stand for."""
        return [str(title.text) for title in self.picture(code).iter(f"{SVG}title")]

    def words(self, code: str) -> str:
        """The texts of a picture."""
        return "\n".join("".join(text.itertext()) for text in self.picture(code).iter(f"{SVG}text"))

    def picture(self, code: str) -> ElementTree.Element:
        """The picture of a cell."""
        (output,) = self.outputs(code)
        return ElementTree.fromstring(output.data["image/svg+xml"])


def first_run(shown: Shown) -> None:
    questions = shown.column("session.frontier", 0)
    marks = shown.marks("plots.plot_frontier(session)")
    assert len(questions) == 5
    for question in questions:
        assert any(mark.startswith(f"{question.removeprefix('· ')}, ") for mark in marks)
    assert any("could not be answered: What does a ticket for a dog cost?" in mark for mark in marks)
    claims = shown.tables("session.claims")[1:]
    verified = [row for row in claims if row[2] == "VERIFIED"]
    assert len(claims) >= 8 and len(verified) >= 2
    assert all(re.match(r"\d links, [23] origins", row[4]) and "survived" in row[5] for row in verified)
    assert "40 minutes" in shown.text("contradictions") and "55 minutes" in shown.text("contradictions")
    linked = {
        tuple(mark.split(" ")[:3])
        for mark in shown.marks("plots.plot_sources(session)")
        if "supports" in mark
    }
    assert {claim.rstrip(":") for _, _, claim in linked} == {row[0] for row in claims}
    words = shown.words("plots.plot_sources(session)")
    assert all(name in words for name in ("talmar-port.example", "coast-mail.example", "ferry-watch.example"))
    calls = re.search(r"(\d+) calls: (\d+) done", shown.words("plots.plot_timeline"))
    assert calls is not None
    done = [mark for mark in shown.marks("plots.plot_timeline") if ": done" in mark]
    assert len(done) == 2 * int(calls[2])  # by tool and by question
    assert f"At the end: {len(verified)} verified, {len(claims) - len(verified)} not verified" in shown.words(
        "plots.plot_claims"
    )
    report = shown.text("render_report")
    assert "**Status:** completed" in report and "†" in report and "No language model was used" in report
    assert "all is well" in next(shown.outputs("desk.verify()")).data["text/html"]


def reading_the_ledger(shown: Shown) -> None:
    before, then, now = map(int, re.findall(r"\d+", shown.text("first_challenge")))
    assert before == 0 < then <= now
    assert any(": What does a ticket for a dog cost?" in mark for mark in shown.marks("plot_frontier(then)"))
    falling = shown.tables("without=[manual]")
    assert ["VERIFIED → UNVERIFIED", "2 → 1"] in [row[2:4] for row in falling if len(row) == 5]
    assert any(row[1] == "falls" and row[2].startswith("c_") for row in falling if len(row) == 4)
    assert "VERIFIED → REFUTED" in shown.column("flipped=", 2)
    assert shown.column("desk.sessions()", 0) == ["ferry", "ferry-again"]
    assert shown.column("desk.sessions()", 1) == ["completed", "completed"]
    assert "'ferry-again', 'resolved'" in shown.text("desk.verify().ok") and "True" in shown.text(
        "desk.verify().ok"
    )
    assert "'add_question', 'success', 'q_002'" in shown.text("message in log[:3]")


def mirror_sql(shown: Shown) -> None:
    support = [row for row in shown.tables("FROM claim_support") if row and row[0].startswith("c_")]
    assert support[0][1] == "VERIFIED" and int(support[0][2]) >= 2 and "coast-mail.example" in support[0][3]
    assert {row[1] for row in support} == {"VERIFIED", "UNVERIFIED"}
    rates = [row for row in shown.tables("FROM verification_by_question") if row and row[0].startswith("q_")]
    assert rates and all(float(row[5]) <= float(row[4]) for row in rates)
    assert sum(int(row[1]) for row in rates) == len(support)
    assert len([row for row in shown.tables("FROM source_concentration") if row and "example" in row[0]]) == 3
    ends = [row[2] for row in shown.tables("FROM dead_ends") if len(row) == 4]
    assert "What does a ticket for a dog cost?" in ends
    assert any(row[:1] == ["direct_negation"] for row in shown.tables("FROM challenge_outcomes"))
    assert "('archive_source', " in shown.text("tools.filter")
    verified = len([row for row in support if row[1] == "VERIFIED"])
    assert shown.text("mirror.snapshot") == (
        f"[('UNVERIFIED', {len(support) - verified}), ('VERIFIED', {verified})]\n"
    )


def your_own_agent(shown: Shown) -> None:
    assert "'challenge'" in shown.text("sorted(tools)") and "'search_sources'" in shown.text("sorted(tools)")
    assert "file:port/operating_manual.md" in shown.text('"query": "crew members on board"')
    assert "it needs 1 more survived challenge" in shown.text("At least three crew members must be on board.")
    assert "does not stand in s_001" in shown.text("At least four crew members")
    assert shown.column('desk.session("mine").claims', 4) == ["2 links, 2 origins"]
    assert "Ask the port about the second ship." in shown.text("DeskMiddleware")
    assert shown.text("ResearchMiddleware") == "They may not, says the port.\n"
    marks = shown.marks('plots.plot_timeline(desk.session("own")')
    tools = ("deep_research_start", "search_sources", "archive_source", "notes_append")
    assert all(any(re.match(rf"{tool}\b.*: done", mark) for mark in marks) for tool in tools)
    assert any("checked 0 of 1 claim" in cell for row in shown.tables('desk.session("own")') for cell in row)


def approvals(shown: Shown) -> None:
    assert shown.column("created = chat.call", 0) == ["budget.csv", "plan.md"]
    assert shown.text("delete = chat.call") == "['success', 'pending', 'pending', 'pending']"
    waiting = next(shown.outputs('status="pending"')).data["text/html"]
    assert "+Two ships." in waiting and "-One ship." in waiting
    assert shown.text('decide(price, "approve")') == "item,eur\ncharger,950\nrope,30\n\n"
    assert shown.text("if_match=before").startswith("stale\n# Plan\n\nOne ship, and a new pier.\n")
    decided = [row[1] for row in shown.tables("desk.proposals()") if len(row) == 8]
    assert decided == ["executed", "stale", "rejected"]
    assert [row[4] for row in shown.tables('desk.log("chat")') if len(row) == 7][1:] == decided
    assert shown.column('desk.files.revisions("budget.csv")', 4) == ["update"]
    assert shown.text("desk.files.restore") == "item,eur\ncharger,900\nrope,30\n\n"


def comparing_runs(shown: Shown) -> None:
    names = ["quick", "standard", "few-steps", "one-publisher"]
    assert sorted(shown.column("desk.sessions()", 0)) == sorted(names)
    checked = {
        name: tuple(map(int, numbers))
        for name, *numbers in re.findall(
            r"'([\w-]+)': Checked\(challenged=(\d+), total=(\d+), verified=(\d+)\)",
            shown.text("checked(run.inv"),
        )
    }
    assert list(checked) == names
    marks = shown.marks("plots.plot_coverage(runs)")
    for name, (challenged, total, verified) in checked.items():
        told = f"{challenged} of {total} claims challenged, {verified} verified"
        assert any(mark.startswith(f"{name} (offline") and mark.endswith(told) for mark in marks), (
            name,
            marks,
        )
    assert checked["one-publisher"][2] == 0 < checked["quick"][2]
    assert checked["quick"][0] < checked["standard"][0] == checked["standard"][1]
    assert all(name in shown.words("plots.plot_cost(runs)") for name in names)
    assert any(
        mark.startswith("gathering: ") for mark in shown.marks('plots.plot_cost(desk.session("standard"))')
    )
    assert "120 passengers" in shown.text('verified["quick"] & verified["standard"]')
    assert shown.text("few.run.stop_reason").startswith("('step_cap',")


CHECKS: dict[str, Callable[[Shown], None]] = {
    "01_first_run": first_run,
    "02_reading_the_ledger": reading_the_ledger,
    "03_mirror_sql": mirror_sql,
    "04_your_own_agent": your_own_agent,
    "05_approvals": approvals,
    "06_comparing_runs": comparing_runs,
}


def words_shown(node: Any) -> list[tuple[str, list[Any]]]:
    """Each cell's text and what it shows: words as they are, of tables and pictures that there are some."""
    return [(cell.source, [_words(output) for output in cell.get("outputs", ())]) for cell in node.cells]


def _words(output: Any) -> Any:
    shown = output.get("data", {output.get("name", ""): output.get("text")})
    return {kind: None if kind in ("text/html", "image/svg+xml") else text for kind, text in shown.items()}


@pytest.mark.parametrize("name", CHECKS)
def test_a_notebook_shows_what_it_says_and_is_stored_as_it_runs(
    refresh: ModuleType, name: str, tmp_path: Path
) -> None:
    path = FOLDER / f"{name}.ipynb"
    fresh = refresh.executed(path, tmp_path)
    stored = refresh.nbformat.read(path, as_version=4)
    assert words_shown(fresh) == words_shown(stored), "run `python notebooks/refresh.py`"
    for node in (fresh, stored):
        noise = [
            output
            for cell in node.cells
            for output in cell.get("outputs", ())
            if output.get("name") == "stderr"
        ]
        assert noise == []
        CHECKS[name](Shown(node))


def test_a_name_that_no_notebook_has_is_told_with_those_that_there_are(
    refresh: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        refresh.main(["06_comparing_runs.ipynb", "07"])
    said = capsys.readouterr()
    assert (said.out, f"there is no notebook '07'; there are {', '.join(CHECKS)}" in said.err) == ("", True)


def test_what_is_stored_is_small_and_names_no_machine(refresh: ModuleType) -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == sorted(CHECKS)
    for path in FOLDER.glob("*.ipynb"):
        text = path.read_text(encoding="utf-8")
        assert len(text.encode()) < LARGEST, path.name
        for place in (tempfile.gettempdir() + "/", str(Path.home()) + "/", str(ROOT)):
            assert place not in text, (path.name, place)
        times = set(re.findall(r"\d{4}-\d\d-\d\dT\d\d:\d\d", text))
        assert times <= {refresh.A_TIME[:16]}, (path.name, times)
        assert "<script" not in text.replace("</script><script>", ""), path.name
