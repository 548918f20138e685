"""Exports: the same bytes after an import, and any changed byte refused whole, with the line that it is in."""

import io
import json
import random
import tracemalloc
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from researchdesk.state import events as ev
from researchdesk.state.errors import LedgerCorrupt, NotFound, ResearchdeskError, UsageError
from researchdesk.stores import jsonl
from researchdesk.stores.codec import GENESIS, link
from researchdesk.stores.jsonl import FORMAT, VERSION, import_lines
from researchdesk.stores.ledger import Append, Head
from researchdesk.tools import bundle
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sources.scripted import ScriptedSource
from researchdesk.tools.workspace import Desk, open_desk

from ..desks import SKY, Caller, opened
from .contract import STARTED

STEP = ev.StepRecorded(
    step=1,
    kind="web_research",
    status="stopped",
    objective="o",
    summary="s",
    keywords=("k",),
    stopping_condition="c",
    expected_evidence="e",
)


class Untouched:
    """A ledger that must not be written to."""

    def head(self, stream: str) -> Head:
        return Head()

    def append(self, append: Append) -> None:
        raise AssertionError("something was imported")


def refused(lines: list[bytes]) -> str:
    """The message with which an import of these lines is refused."""
    with pytest.raises(LedgerCorrupt, match=r"line \d+: .*Nothing was imported") as problem:
        import_lines(Untouched(), lines)  # type: ignore[arg-type]
    return str(problem.value)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A desk with one completed run of all kinds of events, and bodies of text and of bytes."""
    with open_desk(tmp_path_factory.mktemp("exported")) as opened:
        source = ScriptedSource(pages={"https://b.org/": "Zwölf große Wellen 語 𝔘. " * 30})
        research = Caller(opened.session("s1", sources=Sources(providers=(source,), fetchers=(source,))))
        research.start("Why 語 “quotes”?")
        research.source(SKY)
        research.ok("archive_source", locator="https://b.org/")
        research.ok("search_sources", query="nothing")
        report, handoff = research.write_all()
        research.complete(report, handoff)
        yield opened


@pytest.fixture(scope="module")
def exported(desk: Desk, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return desk.export("s1", tmp_path_factory.mktemp("lines") / "s1.jsonl").read_bytes()


def test_an_export_of_an_import_has_the_same_bytes(desk: Desk, exported: bytes, tmp_path: Path) -> None:
    lines, bundle = tmp_path / "in.jsonl", desk.export("s1", tmp_path / "in.zip")
    lines.write_bytes(exported)
    for name, path in (("lines", lines), ("bundle", bundle)):
        with open_desk(tmp_path / name) as other:
            taken = other.import_session(path)
            assert (taken.session_id, taken.already_here) == ("s1", False)
            assert other.import_session(path).already_here
            assert other.export("s1", tmp_path / "out.jsonl").read_bytes() == exported
            assert other.export("s1", tmp_path / "out.zip").read_bytes() == bundle.read_bytes()
            assert other.existing("s1").workspace == desk.existing("s1").workspace
            assert other.verify().ok


def test_an_imported_session_can_be_gone_on_with(exported: bytes, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(exported)
    with open_desk(tmp_path / "desk") as other:
        other.import_session(tmp_path / "in.jsonl")
        assert other.handoff("s1").session_id == "s1-next"
        assert Caller(other.existing("s1")).session.run is not None
        assert other.verify().ok


def test_a_purged_body_is_left_out_and_stays_out(tmp_path: Path) -> None:
    with open_desk(tmp_path / "one") as one, open_desk(tmp_path / "two") as two:
        research = Caller(one.session("s1"))
        research.start()
        gone = research.source("something to forget")
        research.source("something to keep")
        one.purge("s1", [gone], actor="human:me", reason="asked")
        path = one.export("s1", tmp_path / "x.jsonl")
        assert b"to forget" not in path.read_bytes() and b"to keep" in path.read_bytes()
        two.import_session(path)
        assert two.verify().ok
        again = Caller(two.existing("s1"))
        again.count = 100
        assert again.refused("deep_research_read_artifact", artifact_id=gone) == "integrity"


def test_another_history_under_the_same_name_is_not_mixed_in(exported: bytes, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(exported)
    with open_desk(tmp_path / "desk") as other:
        Caller(other.session("s1")).start()
        before = other.existing("s1").events()
        with pytest.raises(UsageError, match="another history"):
            other.import_session(tmp_path / "in.jsonl")
        assert other.existing("s1").events() == before
        assert other.verify().ok


# -- damage -----------------------------------------------------------------------------------------------------


def changed(lines: list[bytes], dice: random.Random) -> list[bytes]:
    """The lines with one small thing changed."""
    n = dice.randrange(len(lines))
    line = lines[n]
    at = dice.randrange(len(line))
    before, after = lines[:n], lines[n + 1 :]
    match dice.randrange(9):
        case 0 | 1 | 2:
            flipped = bytes([line[at] ^ (1 << dice.randrange(8))])
            whole = b"".join([*before, line[:at] + flipped + line[at + 1 :], *after])
            return whole.splitlines(keepends=True) if flipped == b"\n" else list(io.BytesIO(whole))
        case 3:
            return list(io.BytesIO(b"".join([*before, line[:at] + line[at + 1 :], *after])))
        case 4:
            return [*before, line[:at] + bytes([dice.randrange(256)]) + line[at:], *after]
        case 5:
            return [*before, line[:at]] if at else before
        case 6:
            return before + after
        case 7:
            return [*before, line, line, *after]
        case _:
            other = dice.randrange(len(lines))
            swapped = list(lines)
            swapped[n], swapped[other] = swapped[other], swapped[n]
            return swapped


def test_every_small_change_is_refused_whole(exported: bytes) -> None:
    lines = exported.splitlines(keepends=True)
    dice = random.Random(2026)
    seen = 0
    while seen < 1_500:
        damaged = changed(lines, dice)
        if b"".join(damaged) == exported:
            continue
        refused(damaged)
        seen += 1


def test_every_cut_and_every_missing_or_doubled_line_is_refused(exported: bytes) -> None:
    lines = exported.splitlines(keepends=True)
    for n in range(len(lines)):
        assert refused(lines[:n]).startswith(f"line {n + 1}:")
        if n:
            refused(lines[:n] + lines[n + 1 :])
            refused(lines[: n + 1] + lines[n:])
    refused([*lines, b"\n"])
    refused([*lines, b"{}\n"])
    refused([*lines[:-1], lines[-1].rstrip(b"\n")])
    refused([line.replace(b"\n", b"\r\n") for line in lines])
    refused([b"\xef\xbb\xbf" + lines[0], *lines[1:]])


def test_a_line_that_says_the_same_in_other_bytes_is_refused(exported: bytes) -> None:
    lines = exported.splitlines(keepends=True)
    for n in (0, 3, len(lines) - 2):
        spaced = json.dumps(json.loads(lines[n])).encode() + b"\n"
        assert refused([*lines[:n], spaced, *lines[n + 1 :]]).startswith(f"line {n + 1}:")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
header = st.fixed_dictionaries(
    {
        "kind": st.just("header"),
        "format": st.just("researchdesk.session"),
        "version": st.sampled_from([1, 2, True, "1"]),
        "stream": st.sampled_from(["session:s1", "desk:x", "", "session:"]),
        "events": st.integers(-2, 3),
        "bodies": st.integers(-2, 3),
        "hash": st.sampled_from(["0" * 64, "x"]),
    },
    optional={"rows_digest": st.just("0" * 64)},
)


@given(values=st.lists(json_values | header, max_size=4))
def test_any_other_json_is_no_export(values: list[Any]) -> None:
    try:
        lines = [orjson.dumps(value, option=orjson.OPT_SORT_KEYS) + b"\n" for value in values]
    except TypeError:
        return  # an integer that no JSON writer of ours takes
    refused(lines)


def lines_of(stored: list[dict[str, Any]]) -> list[bytes]:
    """An export's first lines: a header and these events."""
    header = {"kind": "header", "format": FORMAT, "version": VERSION, "stream": stored[0]["stream"]}
    counts = {"events": len(stored), "bodies": 0, "hash": stored[-1]["hash"], "rows_digest": "0" * 64}
    lines: list[dict[str, Any]] = [{**header, **counts}]
    for item in stored:
        del item["global_seq"]
        lines.append({"kind": "event", **item})
    return [orjson.dumps(line, option=orjson.OPT_SORT_KEYS) + b"\n" for line in lines]


@pytest.mark.parametrize(
    "impossible",
    [
        ev.ResearchResumed(),
        ev.ModelFailed(ordinal=1, code="transient", detail="d"),
        replace(STEP, keywords=()),
        replace(STEP, status="completed"),
    ],
)
def test_what_cannot_have_happened_is_refused_with_its_line_however_well_it_is_hashed(
    impossible: ev.Event,
) -> None:
    events: list[ev.Event] = [opened(), STARTED, STEP, impossible]
    chain = link(events, stream="session:s1", after_seq=0, after_hash=GENESIS, ts="t", refs="{}")
    told = refused(lines_of([asdict(item) for item in chain]))
    assert told.startswith("line 5: ") and "cannot follow" in told


def test_foreign_files_are_refused_and_the_desk_stays_empty(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as other:
        other.writestr("letter.txt", "Dear Sir")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "text.jsonl").write_text("Dear Sir or Madam\n")
    (tmp_path / "bytes.jsonl").write_bytes(bytes(range(256)) * 20)
    (tmp_path / "list.jsonl").write_bytes(b"[1, 2, 3]\n")
    (tmp_path / "deep.jsonl").write_bytes(b"[" * 100_000 + b"\n")
    with open_desk(tmp_path / "desk") as desk:
        for path in sorted(tmp_path.glob("*.*")):
            with pytest.raises(LedgerCorrupt, match="Nothing was imported"):
                desk.import_session(path)
        for missing in ("nothing.jsonl", "desk"):
            with pytest.raises(NotFound):
                desk.import_session(tmp_path / missing)
        assert desk.sessions() == []


def test_a_damaged_bundle_is_refused_whole(desk: Desk, tmp_path: Path) -> None:
    bundle = desk.export("s1", tmp_path / "s1.zip").read_bytes()
    dice = random.Random(11)
    path = tmp_path / "damaged.zip"
    with open_desk(tmp_path / "desk") as other:
        for _ in range(60):
            at = dice.randrange(len(bundle))
            path.write_bytes(bundle[:at] + bytes([bundle[at] ^ (1 << dice.randrange(8))]) + bundle[at + 1 :])
            try:
                other.import_session(path)
            except ResearchdeskError:
                continue
            break  # a part beside the lines was hit: what was taken is whole
        assert other.verify().ok
        for cut in range(0, len(bundle), len(bundle) // 20):
            path.write_bytes(bundle[:cut])
            with pytest.raises(LedgerCorrupt):
                other.import_session(path)


def test_a_damaged_session_is_not_exported(tmp_path: Path) -> None:
    from researchdesk.stores.sqlite.connection import connect

    with open_desk(tmp_path / "desk") as desk:
        research = Caller(desk.session("s1"))
        research.start()
        research.source()
        raw = connect(desk.home / "ledger.sqlite")
        raw.execute("DROP TRIGGER blobs_keep_update")
        raw.execute("UPDATE blobs SET bytes = x'00'")
        raw.close()
        for name in ("x.jsonl", "x.zip"):
            with pytest.raises(ResearchdeskError):
                desk.export("s1", tmp_path / name)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["desk"]


@pytest.mark.parametrize("session_id", ["../../evil", "a/b", "\x1b[31mred", "", ".hidden", "x" * 129, "s1\n"])
def test_a_session_id_that_no_desk_takes_is_refused_on_its_first_line(session_id: str) -> None:
    events: list[ev.Event] = [opened(session_id), STARTED]
    chain = link(events, stream=f"session:{session_id}", after_seq=0, after_hash=GENESIS, ts="t", refs="{}")
    told = refused(lines_of([asdict(item) for item in chain]))
    assert told.startswith("line 1: session id must be") and "\x1b" not in told


def test_a_line_that_is_longer_than_any_of_an_export_is_refused_and_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl, "LINE_BYTES", 2**20)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("session.jsonl", b" " * 2**26)
    (tmp_path / "bomb.jsonl").write_bytes(b" " * 2**26)
    with open_desk(tmp_path / "desk") as desk:
        for name in ("bomb.zip", "bomb.jsonl"):
            tracemalloc.start()
            with pytest.raises(LedgerCorrupt, match="line 1: it is longer than 1,048,576 bytes"):
                desk.import_session(tmp_path / name)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 2**23


def test_a_bundle_that_unpacks_to_too_much_is_refused_by_the_size_that_it_declares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "MAX_LINES_BYTES", 2**20)
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("session.jsonl", b" " * (2**20 + 1))
    with (
        open_desk(tmp_path / "desk") as desk,
        pytest.raises(UsageError, match="unpacks to 1,048,577 bytes, the limit is 1,048,576"),
    ):
        desk.import_session(tmp_path / "bomb.zip")
