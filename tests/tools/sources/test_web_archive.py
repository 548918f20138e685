"""Pages of the web through the door: receipts, and archived bytes that a server says still hold."""

from collections.abc import Iterator

import pytest

from researchdesk.state import events as ev
from researchdesk.tools.sources import gathering
from researchdesk.tools.sources.gathering import Sources
from researchdesk.tools.sources.web.archive import LedgerArchive
from researchdesk.tools.sources.web.fetcher import WebLimits
from researchdesk.tools.workspace import Desk

from ...desks import Caller
from .loopback import HERE, PARAGRAPH, Asked, Reply, Server, moved, page, serving, typed

LATER = "Tue, 03 Mar 2026 10:00:00 GMT"
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits between two tries."""
    monkeypatch.setattr(gathering._patiently, "sleep", lambda seconds: None)


def caller(desk: Desk, session: str = "s1", *, robots: bool = False) -> Caller:
    """A started session that reads the loopback's pages."""
    fetcher = desk.web_fetcher(allow=(HERE,), limits=WebLimits(pause=0), robots=robots)
    made = Caller(desk.session(session, sources=Sources(fetchers=(fetcher,))))
    made.start()
    return made


def receipts(made: Caller) -> list[ev.Receipt]:
    run = made.session.run
    assert run is not None
    return [source.receipt for source in run.fetched_sources if source.receipt]


def once(asked: Asked) -> Reply:
    """A page that never changes and says so."""
    if asked.headers.get("if-none-match") == '"v1"':
        return Reply(status=304, headers=(("ETag", '"v1"'),))
    return typed(page(PARAGRAPH * 4), "text/html", ETag='"v1"')


def test_a_receipt_tells_the_whole_way_to_a_page(desk: Desk, server: Server) -> None:
    server.routes |= {
        "/a": moved("/b"),
        "/b": moved("/c?utm_source=x"),
        "/c?utm_source=x": typed(page(), "text/html"),
    }
    research = caller(desk)
    research.ok("archive_source", locator=server.url("/a#part"))
    (receipt,) = receipts(research)
    assert receipt.requested == server.url("/a#part")
    assert receipt.redirects == (server.url("/a"), server.url("/b"))
    assert receipt.locator == server.url("/c?utm_source=x")
    run = research.session.run
    assert run is not None
    assert run.fetched_sources[0].url == server.url("/c").replace("http:", "https:")
    assert desk.ledger.body(receipt.raw_hash) == page()
    assert desk.verify().ok


def test_a_page_that_another_session_archived_is_asked_about_and_taken_from_the_archive(
    desk: Desk, server: Server
) -> None:
    server.routes["/page"] = once
    first, second = caller(desk, "s1"), caller(desk, "s2")
    first.ok("archive_source", locator=server.url("/page"))
    second.ok("archive_source", locator=server.url("/page"))
    (old,), (new,) = receipts(first), receipts(second)
    assert (old.status, new.status, old.etag, new.etag) == (200, 304, '"v1"', '"v1"')
    assert (new.raw_hash, new.text_hash, new.title) == (old.raw_hash, old.text_hash, old.title)
    assert new.note == f"unchanged since {old.fetched_at}, bytes from the archive"
    assert desk.verify().ok


def test_a_page_that_changed_is_archived_anew(desk: Desk, server: Server) -> None:
    server.routes["/page"] = typed(page(), "text/html", Last_Modified=LATER)
    first, second = caller(desk, "s1"), caller(desk, "s2")
    first.ok("archive_source", locator=server.url("/page"))
    server.routes["/page"] = typed(page("Now it is another text. " + PARAGRAPH), "text/html")
    second.ok("archive_source", locator=server.url("/page"))
    assert server.asked[-1].headers["if-modified-since"] == LATER
    (old,), (new,) = receipts(first), receipts(second)
    assert (new.status, new.last_modified) == (200, "") and new.raw_hash != old.raw_hash


@pytest.mark.parametrize("other", ["/page?utm_source=mail", "/page?x=1"])
def test_only_the_same_url_is_asked_about(desk: Desk, server: Server, other: str) -> None:
    server.routes |= {"/page": once, other: once}
    caller(desk, "s1").ok("archive_source", locator=server.url("/page"))
    caller(desk, "s2").ok("archive_source", locator=server.url(other))
    assert "if-none-match" not in server.asked[-1].headers


def test_bytes_that_are_gone_are_asked_for_again(desk: Desk, server: Server) -> None:
    server.routes["/page"] = once
    caller(desk, "s1").ok("archive_source", locator=server.url("/page"))
    assert LedgerArchive(desk.ledger).known(server.url("/page"))
    desk.purge("s1", actor="me", reason="no longer needed")
    assert LedgerArchive(desk.ledger).known(server.url("/page")) is None
    second = caller(desk, "s2")
    second.ok("archive_source", locator=server.url("/page"))
    assert receipts(second)[0].status == 200


def test_a_page_with_a_secret_is_not_kept_and_asked_for_again(desk: Desk, server: Server) -> None:
    server.routes["/page"] = typed(page(f"The token is {TOKEN}. {PARAGRAPH}"), "text/html", ETag='"v1"')
    for session in ("s1", "s2"):
        research = caller(desk, session)
        research.ok("archive_source", locator=server.url("/page"))
        assert not receipts(research)[0].raw_kept
        assert "if-none-match" not in server.asked[-1].headers


@pytest.mark.parametrize("etag", [TOKEN, '"' + "x" * 300 + '"', '"é"', '"a\tb"'])
def test_a_validator_that_cannot_be_sent_back_is_dropped(desk: Desk, server: Server, etag: str) -> None:
    server.routes["/page"] = typed(page(), "text/html", ETag=etag)
    research = caller(desk)
    research.ok("archive_source", locator=server.url("/page"))
    assert receipts(research)[0].etag == ""


def test_a_server_that_fails_once_is_asked_again(desk: Desk, server: Server) -> None:
    answers: Iterator[Reply | bytes] = iter([Reply(status=503), b"", typed(page(), "text/html")])
    server.routes["/page"] = lambda asked: next(answers)
    research = caller(desk)
    research.ok("archive_source", locator=server.url("/page"))
    assert server.paths == ["/page"] * 3


def test_a_refusal_is_final_for_its_call_and_leaves_no_body(desk: Desk, server: Server) -> None:
    server.routes["/robots.txt"] = typed(b"User-agent: *\nDisallow: /private\n", "text/plain")
    server.routes["/gate"] = Reply(status=403, body=page("Sign in to read."))
    research = caller(desk, robots=True)
    assert research.refused("archive_source", locator=server.url("/private/x")) == "fetch_blocked"
    assert research.refused("archive_source", locator=server.url("/gate")) == "fetch_blocked"
    assert research.refused("archive_source", locator=server.url("/missing")) == "fetch_not_found"
    assert (
        research.refused("archive_source", locator="http://169.254.169.254/latest/meta-data/")
        == "fetch_unsafe"
    )
    assert research.refused("archive_source", locator="http://2130706433/") == "fetch_unsafe"
    assert dict(research.session.workspace.refused_by_code.items()) == {
        "fetch_blocked": 2,
        "fetch_not_found": 1,
        "fetch_unsafe": 2,
    }
    assert list(desk.ledger.body_hashes()) == []


def test_an_address_with_a_secret_is_not_asked_for_without_it(desk: Desk, server: Server) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    result = caller(desk, "one")("archive_source", locator=server.url(f"/page?token={secret}"))
    assert (result.data["code"], server.asked) == ("fetch_unsafe", [])
    assert "Use one without" in result.text and secret not in result.text
