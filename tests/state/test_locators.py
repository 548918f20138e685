"""Locators: spellings that are one page, spellings that are two, and what is refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from researchdesk.state.errors import Refusal
from researchdesk.state.locators import (
    UnsafeLocator,
    canonical_host,
    canonical_url,
    host_of,
    is_reserved_host,
    loose_key,
    parse_locator,
    request_url,
    same_locator,
)

PAIRS = [
    line.split("\t")
    for line in (Path(__file__).parent / "locator_pairs.tsv").read_text("utf-8").splitlines()
    if not line.startswith("#")
]

CANONICAL = [
    ("https://pages.nist.gov/800-63-3/", "https://pages.nist.gov/800-63-3/"),
    ("HTTPS://Pages.NIST.gov/800-63-3/", "https://pages.nist.gov/800-63-3/"),
    ("http://pages.nist.gov/800-63-3/", "https://pages.nist.gov/800-63-3/"),
    ("http://pages.nist.gov:80/a", "https://pages.nist.gov/a"),
    ("https://pages.nist.gov:443/a", "https://pages.nist.gov/a"),
    ("https://pages.nist.gov:/a", "https://pages.nist.gov/a"),
    ("https://pages.nist.gov:8443/a", "https://pages.nist.gov:8443/a"),
    ("http://pages.nist.gov:8080/a", "https://pages.nist.gov:8080/a"),
    ("https://nist.gov", "https://nist.gov/"),
    ("https://nist.gov?", "https://nist.gov/"),
    ("https://nist.gov/?", "https://nist.gov/"),
    ("https://nist.gov/#top", "https://nist.gov/"),
    ("https://nist.gov/a#:~:text=password", "https://nist.gov/a"),
    ("https://nist.gov./a", "https://nist.gov/a"),
    ("  https://nist.gov/a\n", "https://nist.gov/a"),
    ("https://nist.gov/a?utm_source=x", "https://nist.gov/a"),
    ("https://nist.gov/a?UTM_Source=x&utm_medium=y", "https://nist.gov/a"),
    ("https://nist.gov/a?utm%5Fsource=x", "https://nist.gov/a"),
    ("https://nist.gov/a?id=7&gclid=abc", "https://nist.gov/a?id=7"),
    ("https://nist.gov/a?fbclid=abc&id=7", "https://nist.gov/a?id=7"),
    ("https://nist.gov/a?msclkid=1&mc_eid=2&mc_cid=3&yclid=4&igshid=5", "https://nist.gov/a"),
    ("https://nist.gov/a?b=2&a=1", "https://nist.gov/a?b=2&a=1"),
    ("https://nist.gov/a?a=1&&b=2&", "https://nist.gov/a?a=1&b=2"),
    ("https://nist.gov/a?a=", "https://nist.gov/a?a="),
    ("https://nist.gov/a/./b/../c", "https://nist.gov/a/c"),
    ("https://nist.gov/../../a", "https://nist.gov/a"),
    ("https://nist.gov/a/b/..", "https://nist.gov/a/"),
    ("https://nist.gov/a/%2e%2e/b", "https://nist.gov/b"),
    ("https://nist.gov/a//b", "https://nist.gov/a//b"),
    ("https://nist.gov/%7Euser", "https://nist.gov/~user"),
    ("https://nist.gov/%c3%a9t%C3%A9", "https://nist.gov/%C3%A9t%C3%A9"),
    ("https://nist.gov/été", "https://nist.gov/%C3%A9t%C3%A9"),
    ("https://nist.gov/a b", "https://nist.gov/a%20b"),
    ("https://nist.gov/100%", "https://nist.gov/100%25"),
    ("https://nist.gov/a%2Fb", "https://nist.gov/a%2Fb"),
    ("https://nist.gov/?q=a+b%20c", "https://nist.gov/?q=a+b%20c"),
    ("https://nist.gov/?q=密码", "https://nist.gov/?q=%E5%AF%86%E7%A0%81"),
    ("https://bücher.de/", "https://xn--bcher-kva.de/"),
    ("https://BÜCHER.de/", "https://xn--bcher-kva.de/"),
    ("https://XN--BCHER-KVA.de/", "https://xn--bcher-kva.de/"),
    ("https://ｎｉｓｔ.gov/", "https://nist.gov/"),
    ("https://n%69st.gov/", "https://nist.gov/"),
    ("https://faß.de/", "https://xn--fa-hia.de/"),
    ("https://例え.jp/", "https://xn--r8jz45g.jp/"),
    ("http://[2001:DB8:0:0::1]:80/", "https://[2001:db8::1]/"),
    ("https://_dmarc.nist.gov/", "https://_dmarc.nist.gov/"),
    ("https://www.nist.gov/a", "https://www.nist.gov/a"),
    ("https://nist.gov/a;v=1?x=/y", "https://nist.gov/a;v=1?x=/y"),
]

DIFFERENT = [
    ("https://nist.gov/a?page=1", "https://nist.gov/a?page=2"),
    ("https://nist.gov/a?a=1&b=2", "https://nist.gov/a?b=2&a=1"),
    ("https://nist.gov/a", "https://nist.gov/A"),
    ("https://nist.gov/a", "https://nist.gov/a/"),
    ("https://nist.gov/a", "https://www.nist.gov/a"),
    ("https://nist.gov/a", "https://nist.gov:8443/a"),
    ("https://nist.gov/a/b", "https://nist.gov/a%2Fb"),
    ("https://nist.gov/a?ref=main", "https://nist.gov/a?ref=dev"),
    ("https://nist.gov/a?q=a%26b", "https://nist.gov/a?q=a&b"),
    ("file:a.md", "file:A.md"),
    ("file:a.md", "desk:a.md"),
    ("file:a.md", "https://nist.gov/a.md"),
    ("not a scheme:x", "javascript:x"),
]

REFUSED = [
    *(
        "ftp://nist.gov/a",
        "javascript:alert(1)",
        "data:text/html,hi",
        "gopher://x",
        "mailto:a@b.c",
        "ssh://h",
    ),
    *("", "   ", "https://", "https:///a", "https:nist.gov", "https://a b/", "https://nist.gov:99999/"),
    *(
        "https://nist.gov:x/",
        "https://user:secret@nist.gov/",
        "https://u@nist.gov/",
        "https://nist.gov\\@evil.org/",
    ),
    *("https://nist.gov/\x00", "https://ni\nst.gov/", "https://[::zz]/", "https://-a-.gov/", "https://.."),
    *(
        "https://nist.gov/" + "a" * 5_000,
        "../etc/passwd",
        "file:../x",
        "file:a/../../x",
        "file:",
        "file:/",
        ".",
    ),
    *(
        "file://server/share/a.md",
        "file:///a%00b",
        "desk:",
        "desk:../notes.md",
        "view-source:https://nist.gov",
    ),
]


@pytest.mark.parametrize(("verdict", "first", "second", "why"), PAIRS)
def test_what_the_web_sends_is_one_page_or_two_or_refused(
    verdict: str, first: str, second: str, why: str
) -> None:
    if verdict == "refused":
        with pytest.raises(UnsafeLocator):
            parse_locator(first)
    else:
        assert same_locator(first, second) == (verdict == "same"), why


@pytest.mark.parametrize(
    ("spelled", "requested"),
    [
        ("http://NIST.gov:80/a/../b?utm_source=x&&id=%7e7#top", "http://nist.gov/b?utm_source=x&&id=~7"),
        ("https://nist.gov:443/%7Ea?", "https://nist.gov/~a"),
        ("http://nist.gov:443/", "http://nist.gov:443/"),
        ("https://bücher.de:8443/é", "https://xn--bcher-kva.de:8443/%C3%A9"),
    ],
)
def test_a_page_is_asked_for_with_its_own_scheme_port_and_query(spelled: str, requested: str) -> None:
    assert request_url(spelled) == request_url(requested) == requested
    assert canonical_url(requested) == canonical_url(spelled)


@pytest.mark.parametrize(("spelled", "canonical"), CANONICAL)
def test_a_url_has_one_canonical_spelling(spelled: str, canonical: str) -> None:
    assert canonical_url(spelled) == canonical
    assert canonical_url(canonical) == canonical
    assert same_locator(spelled, canonical)


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_locators_that_may_select_different_bytes_stay_two(first: str, second: str) -> None:
    assert not same_locator(first, second)


@pytest.mark.parametrize("spelled", REFUSED)
def test_an_unsafe_locator_is_refused_with_a_reason(spelled: str) -> None:
    with pytest.raises(UnsafeLocator) as refused:
        parse_locator(spelled)
    assert isinstance(refused.value, Refusal)
    assert refused.value.code == "fetch_unsafe"
    assert len(refused.value.text) < 300
    assert "secret" not in refused.value.text


@pytest.mark.parametrize(
    ("spelled", "canonical"),
    [
        ("file:docs/a.md", "file:docs/a.md"),
        ("docs/a.md", "file:docs/a.md"),
        ("./docs//a.md", "file:docs/a.md"),
        ("file:./docs/./a.md", "file:docs/a.md"),
        ("/srv/docs/a b.md", "file:/srv/docs/a b.md"),
        ("file:///srv/docs/a%20b.md", "file:/srv/docs/a b.md"),
        ("file://localhost/srv/a.md", "file:/srv/a.md"),
        ("file:100%25.md", "file:100%25.md"),
        ("file:notes: 2024.md", "file:notes: 2024.md"),
        ("v1.2:notes.md", "file:v1.2:notes.md"),
        ("文档/密码.md", "file:文档/密码.md"),
        ("desk:notes/plan.md", "desk:notes/plan.md"),
        ("DESK:Notes/Cafe\u0301: a.md", "desk:Notes/Café: a.md"),
        ("desk:100%25.md", "desk:100%25.md"),
    ],
)
def test_a_path_becomes_the_locator_of_a_file(spelled: str, canonical: str) -> None:
    assert str(parse_locator(spelled)) == canonical
    assert str(parse_locator(canonical)) == canonical


@given(st.text(max_size=60), st.text(alphabet="abc%2e./?&=#utm_é 密+", max_size=60))
def test_canonical_form_is_a_fixed_point(tail: str, path: str) -> None:
    for spelled in (f"http://nist.gov/{path}{tail}", f"{path}{tail}", f"file:{path}", f"desk:{path}"):
        try:
            once = str(parse_locator(spelled))
        except UnsafeLocator:
            continue
        assert str(parse_locator(once)) == once


@pytest.mark.parametrize(
    "host",
    [
        *("example.com", "www.example.com", "EXAMPLE.ORG", "example.net.", "a.b.example.org", "site.test"),
        *("foo.invalid", "my.example", "localhost", "api.localhost", "ｅｘａｍｐｌｅ.com", "例え.テスト"),
    ],
)
def test_a_reserved_host_is_known(host: str) -> None:
    assert is_reserved_host(host)


@pytest.mark.parametrize(
    "host", ["nist.gov", "myexample.com", "example.com.br", "test.com", "contest", "", "::1"]
)
def test_an_ordinary_host_is_not_reserved(host: str) -> None:
    assert not is_reserved_host(host)


def test_the_loose_key_joins_www_and_trailing_slash_only() -> None:
    assert loose_key("http://www.nist.gov/a/") == loose_key("https://nist.gov/a")
    assert loose_key("https://nist.gov/a?x=1") != loose_key("https://nist.gov/a?x=2")
    assert loose_key("https://www.nist.gov/") == loose_key("https://nist.gov")


def test_the_host_of_a_url_has_no_port() -> None:
    assert host_of("HTTP://WWW.Nist.gov:8080/x") == "www.nist.gov"
    assert canonical_host("[::1]") == "[::1]"
