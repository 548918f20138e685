"""Search services: their recorded answers, their empty ones, and every way in which they fail."""

import gzip
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest

from researchdesk import make_providers
from researchdesk.state.errors import UsageError
from researchdesk.tools.sources.ports import Hit, SearchFailed, SearchProvider
from researchdesk.tools.sources.providers import ddgs
from researchdesk.tools.sources.providers.arxiv import Arxiv, Pace
from researchdesk.tools.sources.providers.brave import Brave
from researchdesk.tools.sources.providers.ddgs import Ddgs
from researchdesk.tools.sources.providers.naming import PROVIDER_NAMES
from researchdesk.tools.sources.providers.searxng import SearxNG
from researchdesk.tools.sources.providers.semantic_scholar import SemanticScholar
from researchdesk.tools.sources.providers.tavily import Tavily
from researchdesk.tools.sources.providers.wikipedia import Wikipedia

from .loopback import serving, typed

RECORDED = Path(__file__).parent / "recorded"
KEY = "tvly-" + "a1B2c3D4e5F6" * 2
SKY = "https://spaceplace.nasa.gov/blue-sky/en/"

Answer = Callable[[httpx.Request], httpx.Response]
Maker = Callable[[httpx.BaseTransport], SearchProvider]

SERVICES: dict[str, Maker] = {
    "tavily": lambda transport: Tavily(key=KEY, transport=transport),
    "brave": lambda transport: Brave(key=KEY, transport=transport),
    "searxng": lambda transport: SearxNG(base_url="https://searx.desk.org/", transport=transport),
    "wikipedia": lambda transport: Wikipedia(transport=transport),
    "semantic_scholar": lambda transport: SemanticScholar(key=KEY, transport=transport),
    "arxiv": lambda transport: Arxiv(transport=transport, pace=Pace(0)),
}
EMPTY = {
    "tavily": b'{"query": "x", "results": [], "response_time": 0.4}',
    "brave": (RECORDED / "brave_empty.json").read_bytes(),
    "searxng": b'{"query": "x", "results": [], "unresponsive_engines": []}',
    "wikipedia": (RECORDED / "wikipedia_empty.json").read_bytes(),
    "semantic_scholar": b'{"total": 0, "offset": 0}',
    "arxiv": (RECORDED / "arxiv_empty.xml").read_bytes(),
}


class Server:
    """Answers with one response, and keeps the requests."""

    def __init__(
        self, body: bytes | str = b"", status: int = 200, headers: dict[str, str] | None = None
    ) -> None:
        self.requests: list[httpx.Request] = []
        self.body = body.encode() if isinstance(body, str) else body
        self.status = status
        self.headers = headers or {}

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return httpx.Response(self.status, content=self.body, headers=self.headers)

    @property
    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(self)


def recorded(name: str) -> Server:
    return Server((RECORDED / name).read_bytes())


def failure(provider: SearchProvider, query: str = "why is the sky blue") -> SearchFailed:
    with pytest.raises(SearchFailed) as caught:
        provider.search(query, limit=5)
    return caught.value


def page(
    locator: str, title: str | None, snippet: str, score: float, origin: str, kind: str = "text/html"
) -> Hit:
    return Hit(
        locator=locator, title=title, snippet=snippet, start=-1, score=score, origin=origin, media_type=kind
    )


def test_tavily_gives_pages_once_each_with_its_scores() -> None:
    server = recorded("tavily.json")
    outcome = Tavily(key=KEY, transport=server.transport).search("why is the sky blue", limit=5)
    assert outcome.hits == (
        page(
            SKY,
            "Why Is the Sky Blue? | NASA Space Place",
            "Blue light is scattered more than other colors because it travels as shorter, smaller waves.",
            0.91523,
            "nasa.gov",
        ),
        page(
            "https://www.metoffice.gov.uk/weather/learn-about/optical-effects/why-is-the-sky-blue",
            "Why is the sky blue?",
            "Rayleigh scattering is stronger & faster for short wavelengths.",
            0.87112,
            "metoffice.gov.uk",
        ),
    )
    assert (outcome.provider, outcome.total, outcome.asked) == ("tavily", 2, "")
    (request,) = server.requests
    assert (request.method, str(request.url)) == ("POST", "https://api.tavily.com/search")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(request.content) == {
        "query": "why is the sky blue",
        "max_results": 5,
        "search_depth": "basic",
    }


def test_brave_gives_pages_with_their_passages_as_plain_text() -> None:
    server = recorded("brave.json")
    outcome = Brave(key=KEY, transport=server.transport).search("why is the sky blue", limit=50)
    assert outcome.hits == (
        page(
            "https://math.ucr.edu/home/baez/physics/General/BlueSky/blue_sky.html",
            "Why is the sky blue?",
            'A clear cloudless day-time sky is blue because molecules in the air scatter blue light "more" than red. '
            "… John Tyndall discovered in 1859 <that> it does.",
            1.0,
            "ucr.edu",
        ),
        page(
            "https://en.wikipedia.org/wiki/Rayleigh_scattering",
            "Rayleigh scattering",
            "Scattering of light by particles much smaller than the wavelength.",
            0.5,
            "wikipedia.org",
        ),
    )
    (request,) = server.requests
    assert request.url.path == "/res/v1/web/search"
    assert (request.url.params["q"], request.url.params["count"]) == ("why is the sky blue", "20")
    assert request.headers["x-subscription-token"] == KEY


def test_searxng_gives_pages_of_the_instance_that_was_named() -> None:
    server = recorded("searxng.json")
    outcome = SearxNG(base_url="https://searx.desk.org/", transport=server.transport).search("sky", limit=1)
    assert outcome.hits == (
        page(
            SKY,
            "Why Is the Sky Blue?",
            "Sunlight reaches Earth's atmosphere and is scattered in all directions.",
            3.0,
            "nasa.gov",
        ),
    )
    assert outcome.total == 2
    (request,) = server.requests
    assert str(request.url) == "https://searx.desk.org/search?q=sky&format=json&safesearch=0"


def test_wikipedia_gives_articles_under_their_addresses() -> None:
    server = recorded("wikipedia.json")
    outcome = Wikipedia(language="simple", transport=server.transport).search("sky", limit=2)
    assert outcome.hits == (
        page(
            "https://simple.wikipedia.org/wiki/Diffuse_sky_radiation",
            "Diffuse sky radiation",
            "sky is blue because molecules scatter short-wavelength light",
            1.0,
            "wikipedia.org",
        ),
        page(
            "https://simple.wikipedia.org/wiki/C/2020_F3_(%22NEOWISE%22%3F)",
            'C/2020 F3 ("NEOWISE"?)',
            "a comet & its tail",
            0.5,
            "wikipedia.org",
        ),
    )
    assert outcome.total == 4123
    (request,) = server.requests
    assert request.url.host == "simple.wikipedia.org"
    assert "researchdesk" in request.headers["user-agent"]


def test_semantic_scholar_gives_papers_where_they_can_be_read() -> None:
    server = recorded("semantic_scholar.json")
    outcome = SemanticScholar(key=KEY, transport=server.transport).search("zero-shot attention", limit=10)
    abstract = (RECORDED / "semantic_scholar.json").read_text().split('"abstract": "')[1].split('"')[0]
    pdf = "https://journals.plos.org/plosone/article/file?id=10.1371/journal.pone.0123456&type=printable"
    doi = "https://doi.org/10.1002/(SICI)1097-4571(199806)49:8%3C693::AID-ASI4%3E3.0.CO;2-O"
    assert outcome.hits == (
        page("https://arxiv.org/abs/1706.03762", "Attention is All you Need", abstract, 1.0, "arxiv.org"),
        page(pdf, "An open study", "PLoS ONE, 2015", 0.5, "plos.org", "application/pdf"),
        page(doi, "A closed study", "1998", 1 / 3, "doi.org"),
        page(
            "https://www.semanticscholar.org/paper/a3", "An entry", "Only here.", 0.25, "semanticscholar.org"
        ),
    )
    assert outcome.total == 2817
    (request,) = server.requests
    assert (request.url.params["query"], request.headers["x-api-key"]) == ("zero shot attention", KEY)


def test_arxiv_gives_papers_without_their_version_and_takes_words_not_syntax() -> None:
    server = recorded("arxiv.xml")
    provider = Arxiv(transport=server.transport, pace=Pace(0))
    outcome = provider.search('What is "attention" ANDNOT ti:(in transformer-models)?', limit=2)
    assert outcome.hits == (
        page(
            "https://arxiv.org/abs/1706.03762",
            "Attention Is All You Need",
            "The dominant sequence transduction models are based on complex recurrent or convolutional neural "
            "networks, with p < 0.05.",
            1.0,
            "arxiv.org",
        ),
        page(
            "https://arxiv.org/abs/hep-th/9901001",
            "An older identifier",
            "Its summary.",
            0.5,
            "arxiv.org",
        ),
    )
    assert outcome.total == 84213
    (request,) = server.requests
    assert request.url.params["search_query"] == (
        'all:"attention" OR all:"andnot" OR all:"ti" OR all:"transformer-models"'
    )


def test_arxiv_takes_an_error_that_looks_like_an_entry_for_one() -> None:
    problem = failure(Arxiv(transport=recorded("arxiv_error.xml").transport, pace=Pace(0)))
    assert (problem.code, problem.transient) == ("search_bad_query", False)
    assert "incorrect id format" in problem.text


def test_arxiv_reads_no_entity_of_a_document_type() -> None:
    bomb = (
        '<!DOCTYPE feed [<!ENTITY a SYSTEM "file:///etc/passwd">]><feed xmlns="http://www.w3.org/2005/Atom">'
    )
    entry = "<entry><id>http://arxiv.org/abs/1</id><title>&a;</title></entry></feed>"
    outcome = Arxiv(transport=Server(bomb + entry).transport, pace=Pace(0)).search("sky", limit=1)
    assert [(hit.locator, hit.title) for hit in outcome.hits] == [("https://arxiv.org/abs/1", None)]


@pytest.mark.parametrize("name", SERVICES)
def test_an_empty_answer_is_an_answer(name: str) -> None:
    outcome = SERVICES[name](Server(EMPTY[name]).transport).search("xqzzv", limit=5)
    assert (outcome.provider, outcome.hits, outcome.total) == (name, (), 0)


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize(
    "body", [b"", b"<html>maintenance</html>", b'{"unexpected": 1}', b"[" * 100_000, b"null", b"\xff\xfe"]
)
def test_an_answer_of_another_form_is_no_empty_answer(name: str, body: bytes) -> None:
    assert failure(SERVICES[name](Server(body).transport)).code == "search_unavailable"


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize(
    ("status", "code", "transient"),
    [
        (400, "search_bad_query", False),
        (422, "search_bad_query", False),
        (401, "search_unavailable", False),
        (403, "search_unavailable", False),
        (404, "search_unavailable", False),
        (301, "search_unavailable", False),
        (429, "search_rate_limited", True),
        (500, "search_unavailable", True),
        (503, "search_unavailable", True),
    ],
)
def test_a_status_is_told_by_its_kind(name: str, status: int, code: str, transient: bool) -> None:
    problem = failure(SERVICES[name](Server(b"{}", status).transport))
    assert (problem.code, problem.transient) == (code, transient)
    assert str(status) in problem.text


def test_a_service_that_wants_to_be_left_alone_says_how_long() -> None:
    said = failure(Tavily(key=KEY, transport=Server(b"{}", 429, {"Retry-After": "7"}).transport))
    assert said.retry_after == 7
    assert "7 seconds" in said.text
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    dated = failure(Tavily(key=KEY, transport=Server(b"{}", 429, {"Retry-After": later}).transport))
    assert dated.retry_after is not None
    assert 60 < dated.retry_after <= 90
    for told in ("soon", "nan", "1e999", "Mon, 01 Jan 2099 00:00:00 -99999999999999999999"):
        vague = failure(Tavily(key=KEY, transport=Server(b"{}", 429, {"Retry-After": told}).transport))
        assert (vague.code, vague.retry_after) == ("search_rate_limited", None)


def test_what_a_service_says_is_told_without_the_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    body = json.dumps({"detail": {"error": f"The key {KEY} is over its limit"}})
    problem = failure(Tavily(key=KEY, transport=Server(body, 432).transport))
    assert problem.text.endswith("It said: The key … is over its limit")
    assert KEY not in caplog.text


@pytest.mark.parametrize("problem", [httpx.ConnectError, httpx.ReadError, httpx.RemoteProtocolError])
def test_a_lost_line_is_unavailable_without_the_words_of_the_library(
    problem: type[httpx.TransportError],
) -> None:
    def lost(request: httpx.Request) -> httpx.Response:
        raise problem(f"while asking {request.url} with {KEY}")

    told = failure(Brave(key=KEY, transport=httpx.MockTransport(lost)))
    assert (told.code, told.transient) == ("search_unavailable", True)
    assert KEY not in told.text


def test_a_library_that_gives_up_waiting_is_a_timeout() -> None:
    def slow(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("")

    assert failure(Brave(key=KEY, transport=httpx.MockTransport(slow))).code == "search_timeout"


def test_a_service_that_drips_or_hangs_is_left_at_the_deadline() -> None:
    never = Event()

    def drip() -> Iterator[bytes]:
        yield b"{"
        never.wait(5)

    def dripping(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=drip())

    def hanging(request: httpx.Request) -> httpx.Response:
        never.wait(5)
        return httpx.Response(200)

    for answer in (dripping, hanging):
        told = failure(Tavily(key=KEY, transport=httpx.MockTransport(answer), timeout=0.05))
        assert told.code == "search_timeout"
    never.set()


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "x"])
def test_an_answer_that_is_packed_as_nobody_asked_is_not_unpacked(coding: str) -> None:
    with serving() as server:
        server.routes["/search"] = typed(EMPTY["searxng"], "application/json", Content_Encoding=coding)
        told = failure(SearxNG(base_url=server.url())).text
        assert f"it is packed as {coding!r}" in told
        assert server.asked[0].headers["accept-encoding"] == "gzip, deflate"


def test_an_answer_that_is_packed_as_asked_is_read() -> None:
    with serving() as server:
        packed = gzip.compress(EMPTY["searxng"])
        server.routes["/search"] = typed(packed, "application/json", Content_Encoding="gzip")
        assert SearxNG(base_url=server.url()).search("sky", limit=5).hits == ()


def test_an_answer_without_end_is_not_read_to_its_end() -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b" " * 100_000

    server = httpx.MockTransport(lambda request: httpx.Response(200, content=endless()))
    told = failure(Tavily(key=KEY, transport=server))
    assert told.code == "search_unavailable"
    assert "larger than" in told.text


@pytest.mark.parametrize(
    ("provider", "variable"),
    [(Tavily(), "TAVILY_API_KEY"), (Brave(), "BRAVE_API_KEY"), (SearxNG(), "SEARXNG_BASE_URL")],
)
def test_without_a_key_a_search_says_which_variable_to_set(
    provider: SearchProvider, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(variable, raising=False)
    told = failure(provider)
    assert (told.code, told.transient) == ("search_unavailable", False)
    assert variable in told.text


def test_key_and_address_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", f" {KEY}\n")
    monkeypatch.setenv("TAVILY_BASE_URL", "http://127.0.0.1:8080/tavily/")
    server = recorded("tavily.json")
    Tavily(transport=server.transport).search("sky", limit=1)
    (request,) = server.requests
    assert str(request.url) == "http://127.0.0.1:8080/tavily/search"
    assert request.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("address", ["searx.desk.org", "ftp://desk.org", "https://user:word@desk.org"])
def test_an_address_that_is_none_is_refused_at_once(address: str) -> None:
    with pytest.raises(UsageError) as caught:
        SearxNG(base_url=address)
    assert "word" not in str(caught.value)


def test_a_query_that_is_too_long_is_cut_after_a_word_and_the_outcome_says_so() -> None:
    server = recorded("brave.json")
    words = " ".join(f"word{number}" for number in range(60))
    outcome = Brave(key=KEY, transport=server.transport).search(words, limit=2)
    assert outcome.asked == " ".join(words.split()[:50])
    assert server.requests[0].url.params["q"] == outcome.asked
    long = recorded("wikipedia.json")
    outcome = Wikipedia(transport=long.transport).search("scattering " * 40, limit=2)
    assert outcome.asked == ("scattering " * 27).strip()
    assert len(outcome.asked) <= 300


@pytest.mark.parametrize("query", ["", "  ?! ", "x" * 401])
def test_a_query_of_which_nothing_can_be_asked_is_refused_unasked(query: str) -> None:
    server = recorded("tavily.json")
    assert failure(Tavily(key=KEY, transport=server.transport), query).code == "search_bad_query"
    assert server.requests == []


def test_searxng_says_what_its_settings_lack_and_when_no_engine_answered() -> None:
    def searxng(server: Server) -> SearxNG:
        return SearxNG(base_url="https://searx.desk.org", transport=server.transport)

    assert "search.formats" in failure(searxng(Server(b"", 403))).text
    silent = failure(searxng(recorded("searxng_silent.json")))
    assert silent.code == "search_unavailable"
    assert "google: CAPTCHA, bing: timeout" in silent.text


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ({"code": "ratelimited", "info": "slow down"}, "search_rate_limited"),
        ({"code": "cirrussearch-query-too-long", "info": "too long"}, "search_bad_query"),
        ({"code": "internal_api_error_DBQueryError", "info": "oops"}, "search_unavailable"),
    ],
)
def test_wikipedia_tells_its_errors_with_a_status_of_success(error: dict[str, str], code: str) -> None:
    assert failure(Wikipedia(transport=Server(json.dumps({"error": error})).transport)).code == code


class Engines:
    """Stands for the library ddgs."""

    def __init__(self, answer: Sequence[dict[str, Any]] | Exception) -> None:
        self.answer = answer
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def text(self, query: str, **options: Any) -> Sequence[dict[str, Any]]:
        self.asked.append((query, options))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class DDGSException(Exception):
    """As the library names it."""


class RatelimitException(DDGSException):
    """As the library names it."""


class TimeoutException(DDGSException):
    """As the library names it."""


def test_ddgs_gives_pages_of_the_engines_behind_it() -> None:
    engines = Engines(json.loads((RECORDED / "ddgs.json").read_text()))
    outcome = Ddgs(engines=engines).search("why is the sky blue", limit=3)
    assert outcome.hits == (
        page(
            SKY,
            "Why Is the Sky Blue?",
            "Gases and particles in Earth's atmosphere scatter sunlight in all directions.",
            1.0,
            "nasa.gov",
        ),
    )
    assert engines.asked == [
        ("why is the sky blue", {"region": "us-en", "max_results": 3, "backend": "auto"})
    ]


def test_ddgs_that_finds_nothing_gives_an_empty_answer() -> None:
    assert Ddgs(engines=Engines(DDGSException("No results found."))).search("x", limit=3).hits == ()


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (RatelimitException("202"), "search_rate_limited"),
        (TimeoutException("timed out"), "search_timeout"),
        (DDGSException("ConnectError"), "search_unavailable"),
        (ValueError("anything"), "search_unavailable"),
    ],
)
def test_ddgs_fails_by_kind(problem: Exception, code: str) -> None:
    assert failure(Ddgs(engines=Engines(problem))).code == code


def test_the_library_has_the_errors_that_are_told_apart_by_name() -> None:
    errors = pytest.importorskip("ddgs.exceptions")
    assert issubclass(errors.RatelimitException, errors.DDGSException)
    assert issubclass(errors.TimeoutException, errors.DDGSException)


def test_providers_are_made_by_name_once_each_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    made = make_providers(["arxiv", " Tavily ", "semantic-scholar", "arxiv"])
    assert [provider.name for provider in made] == ["arxiv", "tavily", "semantic_scholar"]


def test_an_unknown_provider_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError) as caught:
        make_providers(["arxiv", "altavista"])
    assert str(caught.value) == f"no search provider 'altavista'; there are {', '.join(PROVIDER_NAMES)}"


def test_missing_keys_and_extras_are_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("TAVILY_API_KEY", "SEARXNG_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setitem(__import__("sys").modules, "ddgs", None)
    with pytest.raises(UsageError) as caught:
        make_providers(["tavily", "ddgs", "searxng", "arxiv"])
    assert str(caught.value) == (
        "The search provider tavily needs the environment variable TAVILY_API_KEY. "
        f"{ddgs.INSTALL} The search provider searxng needs the environment variable SEARXNG_BASE_URL."
    )
