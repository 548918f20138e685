"""Which addresses of the network may be connected to: those of the public internet, and what a user allowed."""

import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from queue import Empty, SimpleQueue

from researchdesk.state.errors import UsageError
from researchdesk.tools.sources.ports import FetchRefused

Resolver = Callable[[str, int], Sequence[str]]
"""From a host name and a port to addresses; raises OSError (`socket.gaierror`) where there are none."""

# Written out, as what Python calls private differs from version to version (IANA special-purpose registries).
_NOT_PUBLIC = tuple(
    (ip_network(network), what)
    for network, what in (
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by a provider"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "of a cloud's own services"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "for documentation"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "for benchmarks"),
        ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("::ffff:0:0/96", "an IPv4 address in IPv6"),
        ("::/8", "an IPv4 address in IPv6 or reserved"),
        ("2001::/23", "reserved or a Teredo tunnel"),
        ("2001:db8::/32", "for documentation"),
        ("2002::/16", "a 6to4 tunnel"),
        ("3fff::/20", "for documentation"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    )
)
_GLOBAL_V6 = ip_network("2000::/3")
_NAT64 = ip_network("64:ff9b::/96")
_ISATAP = (0x5EFE, 0x02005EFE)

# Ports where something else than a web server listens (the list of the Fetch standard): a request there is
# read as a mail or a command. Browsers refuse them too.
_PORTS_OF_OTHERS = frozenset(
    [
        *(0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95),
        *(101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179),
        *(389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636),
        *(989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566),
        *(6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211),
    ]
)


def not_public(address: str) -> str:
    """Say what an address is that must not be connected to (``loopback``, ``private`` …); empty for a public one.

    IPv6 forms that carry an IPv4 address (mapped, compatible, 6to4, Teredo, ISATAP) are none, but for NAT64's
    own prefix, which stands for the IPv4 address in it.
    """
    if "%" in address:
        return "an address of one network interface"
    try:
        parsed = ip_address(address)
    except ValueError:
        return "not an address"
    if isinstance(parsed, IPv6Address):
        if parsed in _NAT64:
            return not_public(str(IPv4Address(int(parsed) & 0xFFFFFFFF)))
        if (int(parsed) >> 32) & 0xFFFFFFFF in _ISATAP:
            return "an IPv4 address in IPv6"
    for network, what in _NOT_PUBLIC:
        if parsed in network:
            return what
    return "reserved" if parsed.version == 6 and parsed not in _GLOBAL_V6 else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """The addresses of hosts, each of them checked.

    Args:
        allow: addresses and networks (``127.0.0.1``, ``10.1.0.0/16``) that may be reached although they are not
            public: an intranet's.
        resolver: looks a name up; by default the operating system does.

    Raises:
        UsageError: something in ``allow`` is neither an address nor a network.
    """

    allow: tuple[str, ...] = ()
    resolver: Resolver | None = None

    def __post_init__(self) -> None:
        for one in self.allow:
            try:
                ip_network(one)
            except ValueError:
                raise UsageError(
                    f"{one!r} is no address and no network; write 10.1.2.3 or 10.1.0.0/16"
                ) from None

    def of(self, host: str, port: int, *, within: float) -> list[str]:
        """The addresses of a host, in the resolver's order; ``within`` seconds.

        Raises:
            FetchRefused: ``fetch_unsafe`` where any of them is not public and not allowed; ``fetch_not_found``
                where there is none; ``fetch_timeout``.
        """
        literal = host.strip("[]")
        found = [literal] if _is_address(literal) else self._looked_up(host, port, within)
        for address in found:
            self._check(address, host=literal)
        return found

    def check_written(self, host: str, port: int) -> None:
        """Check what stands in a URL, without looking anything up.

        Raises:
            FetchRefused: ``fetch_unsafe``, as `of`.
        """
        if port in _PORTS_OF_OTHERS:
            raise FetchRefused("fetch_unsafe", f"port {port} of {host[:200]} is not one of web servers")
        if _is_address(literal := host.strip("[]")):
            self._check(literal, host=literal)

    def _looked_up(self, host: str, port: int, within: float) -> list[str]:
        try:
            found = _in_time(self.resolver or _system, host, port, within)
        except socket.gaierror as error:
            passing = error.errno == socket.EAI_AGAIN
            raise FetchRefused(
                "fetch_not_found", f"there is no host {host[:200]!r}", transient=passing
            ) from None
        except (OSError, UnicodeError):
            raise FetchRefused("fetch_not_found", f"the host {host[:200]!r} cannot be looked up") from None
        if not found:
            raise FetchRefused("fetch_not_found", f"the host {host[:200]!r} has no address")
        return found

    def _check(self, address: str, *, host: str) -> None:
        what = not_public(address)
        if not what or self._is_allowed(address):
            return
        leads = f"is {what}" if address == host else f"leads to {address}, which is {what}"
        raise FetchRefused("fetch_unsafe", f"{host[:200]} {leads}; only the public internet is read")

    def _is_allowed(self, address: str) -> bool:
        return _is_address(address) and any(ip_address(address) in ip_network(one) for one in self.allow)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _system(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _in_time(resolver: Resolver, host: str, port: int, within: float) -> list[str]:
    """Look up in a thread of its own: the system's resolver cannot be told to stop."""
    answers: SimpleQueue[list[str] | Exception] = SimpleQueue()

    def look_up() -> None:
        try:
            answers.put(list(resolver(host, port)))
        except Exception as error:
            answers.put(error)

    threading.Thread(target=look_up, name="look-up", daemon=True).start()
    try:
        answer = answers.get(timeout=max(within, 0.0))
    except Empty:
        raise FetchRefused(
            "fetch_timeout", f"the host {host[:200]!r} could not be looked up in time", transient=False
        ) from None
    if isinstance(answer, Exception):
        raise answer
    return answer
