"""A research searches and archives what a person wrote on the desk, as it stood when it was read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from researchdesk.state.ids import content_hash
from researchdesk.state.vocabulary import INVESTIGATION_LABELS
from researchdesk.tools.desk_sources import DeskSource
from researchdesk.tools.sources.ports import Fetcher, FetchRefused, SearchFailed, SearchProvider
from researchdesk.tools.workspace import Desk, open_desk

from ..desks import Caller

ANN = "human:ann"
PLAN = (
    "# Passwords\n\nEvery password has at least 12 characters.\n\n## Rotation\n\nPasswords are not rotated.\n"
)
COSTS = "item,price\nPasswort-Manager,40\n監査,12\n"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with open_desk(tmp_path / "home") as desk:
        desk.files.put("notes/plan.md", PLAN, actor=ANN)
        desk.files.put("costs.csv", COSTS, actor=ANN)
        yield desk


def of_model(desk: Desk, path: str, content: str) -> None:
    """A file that a model makes."""
    model = Caller(desk.session("chat", labels=(), profile="desk"))
    model.ok("desk_create_file", path=path, kind="markdown", content=content)


def start(desk: Desk, session_id: str = "s1", **more: object) -> Caller:
    session = desk.session(session_id, labels=INVESTIGATION_LABELS, sources=desk.desk_sources(**more))  # type: ignore[arg-type]
    caller = Caller(session)
    caller.start()
    return caller


def test_it_is_a_provider_and_a_fetcher_of_desk_locators_alone(desk: Desk) -> None:
    source = DeskSource(desk.records)
    provider: SearchProvider = source
    assert isinstance(source, Fetcher) and provider.name == "desk"
    spelled = (
        "desk:notes/plan.md",
        "desk:none.md",
        "notes/plan.md",
        "file:a.md",
        "https://a.org/",
        "desk:/x",
        "",
    )
    assert [source.accepts(one) for one in spelled] == [True, True, False, False, False, False, False]


def test_a_hit_shows_a_passage_at_its_place_in_the_text(desk: Desk) -> None:
    source = DeskSource(desk.records)
    outcome = source.search("rotating passwords", limit=5)
    assert (outcome.provider, outcome.total) == ("desk", len({hit.locator for hit in outcome.hits}))
    first = outcome.hits[0]
    assert (first.locator, first.title, first.origin) == ("desk:notes/plan.md", "notes/plan.md", "desk")
    fetched = source.fetch(first.locator)
    for hit in (hit for hit in outcome.hits if hit.locator == first.locator):
        assert fetched.text[hit.start :].startswith(hit.snippet)
    assert [hit.locator for hit in source.search("監査", limit=5).hits] == ["desk:costs.csv"]
    assert source.search("zebra", limit=5).hits == ()
    with pytest.raises(SearchFailed) as failed:
        source.search(" \n", limit=5)
    assert failed.value.code == "search_bad_query"


def test_a_run_archives_a_file_with_a_receipt_of_its_version(desk: Desk) -> None:
    model = start(desk)
    found = model.ok("search_sources", query="password characters", limit=5)
    assert found.data["hits"][0] == "desk:notes/plan.md"
    model.ok("archive_source", locator="desk:Notes/PLAN.md")
    (source,) = model.session.run.all_sources if model.session.run else ()
    receipt = source.receipt
    version = content_hash(PLAN.encode())
    assert receipt is not None
    assert (source.url, source.origin, source.domain) == ("desk:notes/plan.md", "desk", "desk")
    assert source.origin_reason == "the files of a desk count as one origin"
    assert (receipt.title, receipt.etag, receipt.raw_hash, receipt.raw_kept) == (
        "notes/plan.md",
        version,
        version,
        True,
    )
    assert (receipt.media_type, receipt.extractor, receipt.status) == ("text/markdown", "desk", 0)
    assert [mark.title for mark in receipt.sections] == ["Passwords", "Rotation"]
    assert desk.verify().problems == ()


def test_what_was_read_stays_when_the_file_changes_and_the_next_run_reads_the_new_version(desk: Desk) -> None:
    first = start(desk)
    first.ok("archive_source", locator="desk:notes/plan.md")
    file = desk.files.get("notes/plan.md")
    after = PLAN.replace("12", "15")
    desk.files.save(file.id, after, actor=ANN, if_match=file.content_hash)
    again = first.ok("archive_source", locator="desk:notes/plan.md")
    assert again.data["repeated"]
    second = start(desk, "s2")
    second.ok("archive_source", locator="desk:notes/plan.md")
    versions = []
    for caller in (first, second):
        assert caller.session.run is not None
        (source,) = caller.session.run.all_sources
        assert source.receipt is not None
        versions.append((source.receipt.etag, desk.records.text(source.receipt.text_hash)))
    assert versions == [(content_hash(text.encode()), text) for text in (PLAN, after)]
    desk.files.remove("notes/plan.md", actor=ANN, if_match=content_hash(after.encode()))
    assert desk.verify().problems == ()


def test_purging_a_run_leaves_the_desk_its_files(desk: Desk) -> None:
    model = start(desk)
    model.ok("archive_source", locator="desk:notes/plan.md")
    desk.purge("s1", actor="human:me", reason="law")
    assert desk.files.read("notes/plan.md") == PLAN
    assert [hit.path for hit in desk.files.search("password", limit=1)] == ["notes/plan.md"]
    assert desk.verify().problems == ()


def test_the_files_of_a_desk_are_one_origin_unless_they_are_declared_otherwise(desk: Desk) -> None:
    desk.files.put("nist/guest/a.md", "Guidance on passwords.", actor=ANN)
    desk.files.put("nist/b.md", "More guidance on passwords.", actor=ANN)
    declared = DeskSource(desk.records, origins={"NIST/": "nist.gov", "nist/guest/a.md": "ietf.org"})
    origins = {hit.locator: hit.origin for hit in declared.search("passwords", limit=9).hits}
    assert origins == {
        "desk:notes/plan.md": "desk",
        "desk:nist/b.md": "nist.gov",
        "desk:nist/guest/a.md": "ietf.org",
    }
    fetched = declared.fetch("desk:nist/b.md")
    assert (fetched.origin, fetched.domain, fetched.origin_reason) == (
        "nist.gov",
        "nist.gov",
        "declared for desk:NIST",
    )


def test_what_only_a_model_wrote_is_no_source(desk: Desk) -> None:
    of_model(desk, "summary.md", "Every password has 99 characters, I think.")
    source = DeskSource(desk.records)
    assert "desk:summary.md" not in {hit.locator for hit in source.search("password", limit=9).hits}
    with pytest.raises(FetchRefused, match="written by a model") as refused:
        source.fetch("desk:summary.md")
    assert refused.value.code == "fetch_unsafe"
    file = desk.files.get("summary.md")
    desk.files.save(
        file.id, "Every password has 9 characters, I measured it.", actor=ANN, if_match=file.content_hash
    )
    assert source.fetch("desk:summary.md").text.endswith("I measured it.")


@pytest.mark.parametrize(
    ("locator", "code", "words"),
    [
        ("desk:notes/plans.md", "fetch_not_found", "nearest: desk:notes/plan.md"),
        ("desk:gone.md", "fetch_not_found", "there is no 'desk:gone.md'"),
        ("desk:folder", "fetch_unreadable", "is a folder"),
        ("desk:../x", "fetch_unsafe", "dots"),
        ("file:notes/plan.md", "fetch_not_found", "on the desk"),
    ],
)
def test_what_is_not_there_is_told_with_what_is(desk: Desk, locator: str, code: str, words: str) -> None:
    gone = desk.files.put("gone.md", "x", actor=ANN)
    desk.files.remove("gone.md", actor=ANN, if_match=gone.content_hash)
    desk.files.put("folder", actor=ANN, kind="folder")
    with pytest.raises(FetchRefused) as refused:
        DeskSource(desk.records).fetch(locator)
    assert refused.value.code == code and words in refused.value.text


def test_a_desk_without_files_of_a_person_is_empty(tmp_path: Path) -> None:
    with open_desk(tmp_path / "another") as desk:
        source = DeskSource(desk.records)
        assert source.is_empty() and source.search("anything", limit=3).hits == ()
        of_model(desk, "a.md", "text")
        desk.files.put("folder", actor=ANN, kind="folder")
        assert source.is_empty()
        desk.files.put("b.md", "text", actor=ANN)
        assert not source.is_empty()
