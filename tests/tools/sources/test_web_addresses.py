"""Addresses that are never connected to, however they are written, led to or looked up."""

import socket
import ssl
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from researchdesk.state.errors import UsageError
from researchdesk.tools.sources.ports import FetchRefused
from researchdesk.tools.sources.web.addresses import Addresses, not_public
from researchdesk.tools.sources.web.fetcher import WebFetcher, WebLimits

from .certificates import certificate_of
from .loopback import HERE, Server, moved, serving

ELSEWHERE = "127.0.0.2"
QUICK = WebLimits(seconds=5, pause=0)

HOSTS = [
    *(
        "127.0.0.1",
        "127.0.0.2",
        "127.255.255.254",
        "127.0.0.1.",
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "172.16.0.1",
    ),
    *("172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.100.100.200", "168.63.129.16"),
    *("192.0.0.192", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "192.88.99.1", "224.0.0.1"),
    *("239.255.255.255", "240.0.0.1", "255.255.255.255"),
    # other spellings of 127.0.0.1
    *("2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "127.1", "127.0.1", "0x7f.1"),
    *("127.0.0.01", "00127.0.0.1", "127.0.0.0x1", "4294967297", "１２７.0.0.1", "127。0。0。1", "①②⑦.0.0.1"),
    *("127%2E0%2E0%2E1", "%31%32%37.0.0.1", "127.0.0.1%00", "127.0.0.1%20", "127.0.0.256"),
    *("[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]"),
    *(
        "[::ffff:0:127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[64:ff9b::a9fe:a9fe]",
        "[64:ff9b:1::1]",
        "[2002:7f00:1::]",
    ),
    *(
        "[2001:0:7f00:1::]",
        "[2001:db8::1]",
        "[3fff::1]",
        "[fc00::1]",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "[fec0::1]",
    ),
    *("[fe80::1%25lo]", "[fe80::1%lo]", "[ff02::1]", "[100::1]", "[5f00::1]", "[4000::1]", "[::1%25lo]"),
    *("[2606:4700::5efe:127.0.0.1]", "[2606:4700::200:5efe:127.0.0.1]"),
    *("localhost", "LOCALHOST", "localhost.", "ⓛocalhost", "ip6-localhost.localdomain"),
    *(
        "user@127.0.0.1",
        "u:p@127.0.0.1",
        "nist.gov@127.0.0.1",
        "127.0.0.1\\@nist.gov",
        "127.0.0.1\\.nist.gov",
    ),
    *("nist.gov#@127.0.0.1:80@", "[127.0.0.1]", "127.0.0.1:80:80", "127.0.0.1\t", "127.0.0.1\x00.nist.gov"),
]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


def refusal(fetcher: WebFetcher, url: str) -> FetchRefused:
    with pytest.raises(FetchRefused) as refused:
        fetcher.fetch(url)
    return refused.value


def loops(host: str, port: int) -> Sequence[str]:
    """A resolver by which every name is this machine."""
    return [HERE]


@pytest.mark.parametrize("host", HOSTS)
def test_an_address_that_is_not_public_is_never_reached(server: Server, host: str) -> None:
    fetcher = WebFetcher(limits=QUICK, resolver=loops)
    for scheme in ("http", "https"):
        assert refusal(fetcher, f"{scheme}://{host}:{server.port}/").code == "fetch_unsafe"
    assert server.connections == 0


@pytest.mark.parametrize("host", HOSTS)
def test_a_redirect_leads_to_no_address_that_is_not_public(server: Server, host: str) -> None:
    with serving(ELSEWHERE) as outside:
        outside.routes["/"] = moved(f"http://{host}:{server.port}/")
        fetcher = WebFetcher(
            allow=(ELSEWHERE,),
            limits=QUICK,
            robots=False,
            resolver=lambda host, port: [ELSEWHERE if "site" in host else HERE],
        )
        if host == ELSEWHERE:
            return
        refused = refusal(fetcher, outside.url(host="site.org"))
        assert refused.code in ("fetch_unsafe", "fetch_unreadable")
        assert (server.connections, outside.connections) == (0, 1)


@pytest.mark.parametrize(
    "locator",
    [
        *(
            "ftp://127.0.0.1/",
            "file:///etc/passwd",
            "gopher://127.0.0.1/",
            "data:text/html,hi",
            "javascript:1",
        ),
        *(
            "dict://127.0.0.1:11211/stat",
            "ws://127.0.0.1/",
            "//127.0.0.1/",
            "/etc/passwd",
            "unix:///run/docker.sock",
        ),
        *("http:127.0.0.1", "http:/127.0.0.1", "http:///127.0.0.1", "http://", "http://:80/", ""),
    ],
)
def test_only_whole_http_urls_are_read(locator: str) -> None:
    assert refusal(WebFetcher(limits=QUICK, resolver=loops), locator).code == "fetch_unsafe"
    assert WebFetcher().accepts(locator) == locator.startswith("http")


@pytest.mark.parametrize("port", [0, 22, 25, 53, 110, 143, 465, 587, 993, 3659, 6379, 6667, 11211])
def test_ports_of_other_services_are_not_asked(port: int) -> None:
    fetcher = WebFetcher(allow=(HERE,), limits=QUICK, resolver=loops)
    assert refusal(fetcher, f"http://site.org:{port}/").code == "fetch_unsafe"


@pytest.mark.parametrize(
    "answer",
    [
        [HERE],
        ["93.184.216.34", HERE],
        ["93.184.216.34", "::1"],
        ["fe80::1%eth0"],
        ["::ffff:127.0.0.1"],
        ["nonsense"],
    ],
)
def test_one_bad_address_among_a_names_addresses_is_enough(server: Server, answer: list[str]) -> None:
    fetcher = WebFetcher(limits=QUICK, resolver=lambda host, port: answer)
    assert refusal(fetcher, server.url(host="site.org")).code == "fetch_unsafe"
    assert server.connections == 0


def test_a_name_that_changes_its_answer_is_connected_to_only_where_it_was_checked() -> None:
    """The first look-up is allowed and the second is not: nothing goes to the second address."""
    answers = iter([[HERE], [ELSEWHERE], [ELSEWHERE]])
    with serving() as server, serving(ELSEWHERE, server.port) as other:
        server.routes["/a"] = lambda asked: iter(
            [b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nThe first page."]
        )
        fetcher = WebFetcher(
            allow=(HERE,), limits=QUICK, robots=False, resolver=lambda host, port: next(answers)
        )
        assert fetcher.fetch(server.url("/a", host="rebind.org")).text == "The first page."
        assert refusal(fetcher, server.url("/a", host="rebind.org")).code == "fetch_unsafe"
        assert (server.connections, other.connections) == (1, 0)


def test_a_redirect_to_the_same_name_is_checked_again() -> None:
    answers = iter([[HERE], [ELSEWHERE]])
    with serving() as server, serving(ELSEWHERE) as other:
        server.routes["/"] = moved(other.url("/", host="rebind.org"))
        fetcher = WebFetcher(
            allow=(HERE,), limits=QUICK, robots=False, resolver=lambda host, port: next(answers)
        )
        assert refusal(fetcher, server.url(host="rebind.org")).code == "fetch_unsafe"
        assert other.connections == 0


def test_the_host_header_keeps_the_name() -> None:
    with serving() as server:
        server.routes["/"] = lambda asked: iter([b"HTTP/1.1 200 OK\r\n\r\n" + asked.headers["host"].encode()])
        fetcher = WebFetcher(allow=(HERE,), limits=QUICK, robots=False, resolver=loops)
        assert fetcher.fetch(server.url(host="Bücher.de")).text == f"xn--bcher-kva.de:{server.port}"


@pytest.mark.parametrize("host", ["xn--i-7iq.ws", "xn--a", "xn--0"])
def test_a_name_outside_the_newest_rules_for_names_is_asked_for(host: str) -> None:
    with serving() as server:
        server.routes["/"] = lambda asked: iter([b"HTTP/1.1 200 OK\r\n\r\n" + asked.headers["host"].encode()])
        fetcher = WebFetcher(allow=(HERE,), limits=QUICK, robots=False, resolver=loops)
        assert fetcher.fetch(server.url(host=host)).text == f"{host}:{server.port}"


def test_a_name_that_looks_like_another_is_told_as_it_is_spelled() -> None:
    refused = refusal(
        WebFetcher(limits=QUICK, resolver=lambda host, port: ["10.0.0.1"]), "http://\u0430pple.com/"
    )
    assert "xn--pple-43d.com leads to 10.0.0.1" in refused.text


def test_a_proxy_of_the_environment_is_not_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, server.url())
    with serving(ELSEWHERE) as site:
        site.routes["/"] = b"HTTP/1.1 200 OK\r\n\r\nThe page itself."
        found = WebFetcher(allow=(ELSEWHERE,), limits=QUICK, robots=False).fetch(site.url(host=ELSEWHERE))
    assert (found.text, server.connections) == ("The page itself.", 0)


def test_a_proxy_that_is_named_is_used_and_written_addresses_stay_refused(server: Server) -> None:
    server.routes["http://site.org/"] = b"HTTP/1.1 200 OK\r\n\r\nBy the proxy."
    fetcher = WebFetcher(limits=QUICK, robots=False, proxy=server.url())
    assert fetcher.fetch("http://site.org/").text == "By the proxy."
    assert refusal(fetcher, "http://10.0.0.1/").code == "fetch_unsafe"


@pytest.mark.parametrize("allow", ["127.0.0.1", "127.0.0.0/8", "::/0"])
def test_what_is_allowed_is_reached_and_nothing_beside_it(server: Server, allow: str) -> None:
    server.routes["/"] = b"HTTP/1.1 200 OK\r\n\r\nThe intranet."
    fetcher = WebFetcher(allow=(allow,), limits=QUICK, robots=False)
    if allow == "::/0":
        assert refusal(fetcher, server.url()).code == "fetch_unsafe"
    else:
        assert fetcher.fetch(server.url()).text == "The intranet."
    assert refusal(fetcher, f"http://10.0.0.1:{server.port}/").code == "fetch_unsafe"


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "2a00:1450::5", "64:ff9b::808:808"]
)
def test_public_addresses_are_public(address: str) -> None:
    assert not_public(address) == ""


def test_a_name_without_an_address_is_not_found() -> None:
    def missing(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    def later(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    for resolver, transient in ((missing, False), (later, True)):
        refused = refusal(WebFetcher(limits=QUICK, resolver=resolver), "https://nowhere.org/")
        assert (refused.code, refused.transient) == ("fetch_not_found", transient)


def test_a_resolver_that_hangs_does_not_hold_a_fetch_up() -> None:
    told = threading.Event()

    def hanging(host: str, port: int) -> Sequence[str]:
        told.wait(10)
        return []

    with pytest.raises(FetchRefused) as refused:
        Addresses(resolver=hanging).of("slow.org", 443, within=0.02)
    told.set()
    assert refused.value.code == "fetch_timeout"


@pytest.mark.parametrize("allow", ["intranet.corp", "10.0.0.1/8", "10.0.0", ""])
def test_only_addresses_and_networks_can_be_allowed(allow: str) -> None:
    with pytest.raises(UsageError, match="no address and no network"):
        WebFetcher(allow=(allow,))


def test_a_certificate_has_to_be_of_the_name_although_an_address_is_connected_to(tmp_path: Path) -> None:
    certificate = certificate_of("site.org", tmp_path)
    ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ours.load_cert_chain(certificate)
    named: list[str | None] = []
    ours.set_servername_callback(lambda connection, name, context: named.append(name))
    with serving(tls=ours) as server:
        server.routes["/"] = b"HTTP/1.1 200 OK\r\n\r\nThe page itself."
        trusting = ssl.create_default_context(cafile=str(certificate))
        url = server.url(host="site.org").replace("http:", "https:")

        def fetcher(tls: ssl.SSLContext | None) -> WebFetcher:
            return WebFetcher(allow=(HERE,), limits=QUICK, robots=False, resolver=loops, tls=tls)

        assert fetcher(trusting).fetch(url).text == "The page itself."
        assert named == ["site.org"]
        for tls, host in ((None, "site.org"), (trusting, "other.org")):
            refused = refusal(fetcher(tls), url.replace("site.org", host))
            assert (refused.code, refused.transient) == (
                "fetch_unsafe",
                False,
            ) and "certificate" in refused.text
        assert [asked.path for asked in server.asked] == ["/"]
