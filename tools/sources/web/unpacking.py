"""Content codings of an answer (gzip, deflate, brotli, zstd), unpacked piece by piece so that a bomb is cut early."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import IO, cast

import brotli
import zstandard

from researchdesk.tools.sources.ports import FetchRefused

ACCEPTED = "gzip, deflate, br, zstd"
"""What is asked for; every server that packs knows one of them."""
_PIECE = 65_536
_LAYERS = 2
_GZIP = b"\x1f\x8b"
_WINDOW = 8_388_608  # the largest that RFC 9659 lets a server use

Pieces = Iterable[bytes]


def unpacked(pieces: Pieces, coding: str, *, limit: int) -> Iterator[bytes]:
    """Undo the codings of a ``Content-Encoding`` header, in pieces of at most about 100 KB.

    Raises:
        FetchRefused: ``fetch_too_large`` beyond ``limit`` bytes, ``fetch_unreadable`` for an unknown coding, more
            than two layers, or what is broken or cut off.
    """
    names = [name.strip().lower() for name in coding.split(",")]
    names = [name for name in names if name not in ("", "identity", "none")]
    if len(names) > _LAYERS or any(name not in _CODINGS for name in names):
        raise FetchRefused("fetch_unreadable", f"the page came packed as {coding[:80]!r}, which is not read")
    for name in reversed(names):
        pieces = _bounded(_CODINGS[name](_bounded(pieces, limit)), limit)
    return _whole(_bounded(pieces, limit))


def _bounded(pieces: Pieces, limit: int) -> Iterator[bytes]:
    count = 0
    for piece in pieces:
        count += len(piece)
        if count > limit:
            raise FetchRefused("fetch_too_large", f"the page has more than {limit:,} bytes")
        yield piece


def _whole(pieces: Pieces) -> Iterator[bytes]:
    try:
        yield from pieces
    except (zlib.error, brotli.error, zstandard.ZstdError, EOFError):
        raise FetchRefused("fetch_unreadable", "the page came packed and its packing is broken") from None


def _gzip(pieces: Pieces) -> Iterator[bytes]:
    return _inflated(pieces, lambda _: zlib.decompressobj(wbits=31))


def _deflate(pieces: Pieces) -> Iterator[bytes]:
    return _inflated(pieces, _deflate_engine)


def _deflate_engine(start: bytes) -> "zlib._Decompress":
    """Servers send both the zlib format, which is meant, and the bare one, which has no header."""
    has_header = len(start) >= 2 and start[0] & 0x0F == 8 and int.from_bytes(start[:2]) % 31 == 0
    return zlib.decompressobj(wbits=15 if has_header else -15)


def _inflated(pieces: Pieces, engine_for: Callable[[bytes], "zlib._Decompress"]) -> Iterator[bytes]:
    """Unpack one stream, or several gzip members one after the other."""
    engine: zlib._Decompress | None = None
    held, members = b"", 0
    for piece in pieces:
        held += piece
        while held and (engine or len(held) >= 2):  # the first two bytes tell the format
            if engine is None and members and not held.startswith(_GZIP):
                return  # padding after the last member
            engine = engine or engine_for(held)
            yield from _drained(engine, held)
            held = engine.unused_data
            if engine.eof:
                engine, members = None, members + 1
    if engine or (held and not members):
        raise EOFError


def _drained(engine: "zlib._Decompress", packed: bytes) -> Iterator[bytes]:
    full = True
    while full and not engine.eof:
        piece = engine.decompress(packed, _PIECE)
        packed, full = engine.unconsumed_tail, len(piece) == _PIECE
        yield piece


def _brotli(pieces: Pieces) -> Iterator[bytes]:
    engine = brotli.Decompressor()
    for piece in pieces:
        yield engine.process(piece, output_buffer_limit=_PIECE)
        while more := b"" if engine.is_finished() else engine.process(b"", output_buffer_limit=_PIECE):
            yield more
    if not engine.is_finished():
        raise EOFError


class _Source:
    """Pieces as a file to read from."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = iter(pieces)

    def read(self, size: int = -1) -> bytes:
        return next(self._pieces, b"")


def _zstd(pieces: Pieces) -> Iterator[bytes]:
    engine = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    reader = engine.stream_reader(cast(IO[bytes], _Source(pieces)), read_across_frames=True)
    while piece := reader.read(_PIECE):
        yield piece


_CODINGS = {"gzip": _gzip, "x-gzip": _gzip, "deflate": _deflate, "br": _brotli, "zstd": _zstd}
