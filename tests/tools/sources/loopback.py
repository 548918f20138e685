"""A web on the loopback: servers that answer as a test says, well or badly, and count who came."""

import contextlib
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

HERE = "127.0.0.1"
PARAGRAPH = (
    "Passwords that subscribers choose shall be at least eight characters long, and longer where nothing else "
    "protects the account; verifiers shall not ask that they are changed at fixed times without a reason. "
)


def page(body: str = PARAGRAPH * 3, *, title: str = "Rules") -> bytes:
    """An HTML page with a paragraph."""
    head = f"<title>{title}</title>" if title else ""
    return f"<!doctype html><html><head>{head}</head><body><main><p>{body}</p></main></body></html>".encode()


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A whole answer; ``Content-Length`` is added."""

    body: bytes = field(default_factory=page)
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),)

    def encode(self) -> bytes:
        """The bytes that go over the wire."""
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}"]
        lines += [
            f"{name}: {value}" for name, value in (*self.headers, ("Content-Length", str(len(self.body))))
        ]
        return "\r\n".join([*lines, "", ""]).encode("utf-8") + (b"" if self.status == 304 else self.body)


Stream = Iterator[bytes]
"""Bytes as they are sent, the head included; the connection is closed behind them."""
Route = Reply | bytes | Callable[[Asked], "Reply | bytes | Stream"]


def moved(to: str, status: int = 302) -> Reply:
    """A redirect."""
    return Reply(body=b"moved", status=status, headers=(("Location", to),))


def typed(body: bytes, media_type: str = "", **headers: str) -> Reply:
    """A page of some type, or of none."""
    content = (("Content-Type", media_type),) if media_type else ()
    return Reply(
        body=body, headers=(*content, *((name.replace("_", "-"), value) for name, value in headers.items()))
    )


class Server(socketserver.ThreadingTCPServer):
    """Answers ``routes`` by path, with its query or without; others do not exist. Keeps what was asked."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: str = HERE, port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self.tls = tls
        self.routes: dict[str, Route] = {}
        self.asked: list[Asked] = []
        self.connections = 0
        super().__init__((address, port), _Handler)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])

    @property
    def paths(self) -> list[str]:
        """The paths that were asked for, in order."""
        return [asked.path for asked in self.asked]

    def url(self, path: str = "/", *, host: str = "") -> str:
        """The URL of one of its pages, under its address or another name of its host."""
        return f"http://{host or str(self.server_address[0])}:{self.port}{path}"

    def get_request(self) -> tuple[socket.socket, object]:
        self.connections += 1
        connection, address = super().get_request()
        return (self.tls.wrap_socket(connection, server_side=True) if self.tls else connection), address

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no fault of the server."""


class _Handler(socketserver.StreamRequestHandler):
    server: Server

    def handle(self) -> None:
        with contextlib.suppress(OSError):
            while self._answer():
                pass

    def _answer(self) -> bool:
        start = self.rfile.readline().split()
        if len(start) < 2:
            return False
        headers = {}
        while line := self.rfile.readline().strip():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        asked = Asked(start[1].decode("latin-1"), headers)
        self.server.asked.append(asked)
        routes, missing = self.server.routes, Reply(body=b"no such page", status=404)
        route = routes.get(asked.path) or routes.get(asked.path.partition("?")[0], missing)
        answer = route(asked) if callable(route) else route
        if isinstance(answer, Reply):
            self.wfile.write(answer.encode())
            return True
        for piece in (answer,) if isinstance(answer, bytes) else answer:
            self.wfile.write(piece)
        return False


@contextlib.contextmanager
def serving(address: str = HERE, port: int = 0, *, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    """A server that runs until the block ends."""
    server = Server(address, port, tls)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
