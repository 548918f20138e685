"""HTTP over connections that go to checked addresses only and draw on the fetch's allowance.

A name is looked up once for each new connection, all its addresses are checked, and the connection is made to
one of exactly these: a name that answers differently the next time changes nothing. TLS and the ``Host``
header keep the name. Every read and write takes the time that is left of the whole fetch, so that a server that
sends a byte now and then does not hold it up.
"""

import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import httpcore
import httpx

from researchdesk.tools.sources.ports import FetchRefused
from researchdesk.tools.sources.web.addresses import Addresses
from researchdesk.tools.sources.web.allowance import current

CONNECT_SECONDS = 5.0
"""The longest that one address may take to answer."""
HEAD_BYTES = 80_000
"""The longest head of an answer; the HTTP parser's own limit is a little higher."""
_IDLE_SECONDS = 5.0
_ADDRESSES_TRIED = 4

SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]


class Transport(httpx.BaseTransport):
    """Sends requests; safe for many threads. Refusals are raised as `FetchRefused` from wherever they arise.

    Args:
        addresses: which hosts may be reached.
        connections: open ones at the most, to all hosts together.
        proxy: URL of an HTTP proxy. It looks names up itself, so that only addresses written in a URL are
            checked then; the proxy has to guard the network.
        tls: who is trusted; by default the authorities that come with the HTTP library.
    """

    def __init__(
        self,
        addresses: Addresses,
        *,
        connections: int,
        proxy: str = "",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._addresses = addresses
        self._pool = httpcore.ConnectionPool(
            ssl_context=tls or _public_authorities(),
            proxy=httpcore.Proxy(proxy) if proxy else None,
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=_Direct() if proxy else _Checked(addresses),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and read the head of the answer.

        Raises:
            FetchRefused: ``fetch_unsafe`` (address, certificate), ``fetch_not_found`` (no host, nothing there),
                ``fetch_timeout``, ``fetch_too_large`` (the head), ``fetch_unreadable`` (broken off, no HTTP).
        """
        url = request.url
        host = url.raw_host.decode(
            "ascii"
        )  # as it is asked for: in letters of another script it may look like another
        port = url.port if url.port is not None else {"http": 80, "https": 443}[url.scheme]
        self._addresses.check_written(host, port)
        sent = httpcore.Request(
            method=request.method,
            url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions={"timeout": {"pool": current().left()}},
        )
        current().expect("the head of the answer", bytes_at_most=HEAD_BYTES)
        with _refusals(host):
            answer = self._pool.handle_request(sent)
        assert isinstance(answer.stream, Iterable)
        return httpx.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=_Body(answer.stream, host=host),
            request=request,
        )

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


@lru_cache(maxsize=1)
def _public_authorities() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)


class _Body(httpx.SyncByteStream):
    def __init__(self, pieces: Iterable[bytes], *, host: str) -> None:
        self._pieces = pieces
        self._host = host

    def __iter__(self) -> Iterator[bytes]:
        with _refusals(self._host):
            yield from self._pieces

    def close(self) -> None:
        if hasattr(self._pieces, "close"):
            self._pieces.close()


@contextmanager
def _refusals(host: str) -> Iterator[None]:
    """Turn faults of the network into refusals."""
    try:
        yield
    except httpcore.TimeoutException:
        raise current().late() from None
    except httpcore.ConnectError as error:
        raise _not_connected(host, error) from None
    except httpcore.ProxyError as error:
        raise FetchRefused("fetch_blocked", f"the proxy refused {host}: {str(error)[:200]}") from None
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        cause = f"the connection to {host} broke off or is no HTTP: {str(error)[:200]}"
        raise FetchRefused("fetch_unreadable", cause, transient=True) from None


def _not_connected(host: str, error: httpcore.ConnectError) -> FetchRefused:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return FetchRefused(
                "fetch_unsafe", f"the certificate of {host} is not valid: {cause.verify_message}"
            )
        if isinstance(cause, ssl.SSLError):
            return FetchRefused("fetch_unreadable", f"no encrypted connection to {host}: {cause.reason}")
        cause = cause.__cause__ or cause.__context__
    return FetchRefused("fetch_not_found", f"nothing answers at {host}: {str(error)[:200]}", transient=True)


class _Direct(httpcore.NetworkBackend):
    """Connects to whatever it is told, on the fetch's time."""

    def __init__(self) -> None:
        self._tcp = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore.NetworkStream:
        within = min(current().left(), CONNECT_SECONDS)
        return _Metered(self._tcp.connect_tcp(host, port, within, local_address, socket_options))


class _Checked(_Direct):
    """Connects to checked addresses only."""

    def __init__(self, addresses: Addresses) -> None:
        super().__init__()
        self._addresses = addresses

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore.NetworkStream:
        problem: Exception | None = None
        for address in self._addresses.of(host, port, within=current().left())[:_ADDRESSES_TRIED]:
            try:
                return super().connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                problem = error
        assert problem is not None
        if isinstance(problem, httpcore.ConnectTimeout):
            raise FetchRefused("fetch_timeout", f"{host} does not answer", transient=False) from None
        raise problem


class _Metered(httpcore.NetworkStream):
    """A connection whose reads and writes draw on the allowance of the thread that uses it."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        allowance = current()
        piece = self._stream.read(max_bytes, allowance.left())
        allowance.received(len(piece))
        return piece

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, current().left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        within = min(current().left(), CONNECT_SECONDS)
        return _Metered(self._stream.start_tls(ssl_context, server_hostname, within))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
