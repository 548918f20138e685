"""The registrable domain of a host, by the public suffix list that comes with a library; never by the network."""

from functools import lru_cache
from importlib.metadata import version
from ipaddress import ip_address

import idna
from publicsuffixlist import PublicSuffixList


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


@lru_cache(maxsize=1)
def suffix_list() -> str:
    """The list that decides, with its version; it stands beside every domain that is recorded."""
    return f"publicsuffixlist {version('publicsuffixlist')}"


def registrable_domain(host: str) -> str:
    """The part of a host that somebody can register: ``bbc.co.uk`` of ``news.bbc.co.uk``, lower case.

    International names come out in their ASCII form. An address, a name without a suffix and a public suffix
    itself stand for themselves.
    """
    name = host.strip().strip("[]").rstrip(".").lower()
    try:
        return str(ip_address(name))
    except ValueError:
        pass
    if not name.isascii():
        try:
            name = idna.encode(name, uts46=True).decode()
        except idna.IDNAError:
            return name
    return _suffixes().privatesuffix(name) or name
