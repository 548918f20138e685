"""The part of a host that somebody can register, by the bundled list."""

import pytest

from researchdesk.tools.sources.domains import registrable_domain


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("pages.nist.gov", "nist.gov"),
        ("NIST.gov.", "nist.gov"),
        ("news.bbc.co.uk", "bbc.co.uk"),
        ("a.b.example.com.au", "example.com.au"),
        ("somebody.github.io", "somebody.github.io"),
        ("www.bücher.de", "xn--bcher-kva.de"),
        ("xn--bcher-kva.de", "xn--bcher-kva.de"),
        ("localhost", "localhost"),
        ("co.uk", "co.uk"),
        ("127.0.0.1", "127.0.0.1"),
        ("[2001:DB8::1]", "2001:db8::1"),
        ("under_score.example.org", "example.org"),
        ("", ""),
    ],
)
def test_a_host_gives_its_registrable_domain(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain
