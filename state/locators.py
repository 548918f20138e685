"""Locators: where a source stands, in one spelling for each page or file.

Three kinds exist. A *web* locator is an ``http``/``https`` URL; its canonical form is what identity is decided
by. A *file* locator is ``file:<path>`` with the path relative to a corpus root, ``/``-separated and never
leaving it (``file:<root name>/<path>`` where several roots are open). A *desk* locator is ``desk:<path>``
with a path as `state.desk.paths` has it. Everything else is refused: no
``ftp:``, ``data:``, ``javascript:`` and no URL that carries a user name or password.
"""

import ipaddress
import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote, urlsplit

import idna

from researchdesk.state.desk.paths import clean_path
from researchdesk.state.errors import Refusal

MAX_LOCATOR = 4_096

# Parameters that say how a reader arrived, never what the page holds. `ref`, `source`, `id`, `si` are not
# among them: there are sites where they select the page.
_TRACKING_PREFIXES = ("utm_", "mtm_", "pk_", "piwik_", "matomo_", "hsa_", "__hs")
_TRACKING = frozenset(
    [
        "gclid",
        "gclsrc",
        "dclid",
        "gbraid",
        "wbraid",
        "gad_source",
        "gad_campaignid",
        "fbclid",
        "fb_action_ids",
        "fb_action_types",
        "fb_source",
        "msclkid",
        "mc_cid",
        "mc_eid",
        "yclid",
        "ysclid",
        "ymclid",
        "igsh",
        "igshid",
        "twclid",
        "ttclid",
        "li_fat_id",
        "epik",
        "sccid",
        "rdt_cid",
        "qclid",
        "irclickid",
        "irgwc",
        "rb_clickid",
        "srsltid",
        "zanpid",
        "_ga",
        "_gl",
        "_hsenc",
        "_hsmi",
        "hsctatracking",
        "mkt_tok",
        "vero_id",
        "vero_conv",
        "oly_anon_id",
        "oly_enc_id",
        "_openstat",
        "wickedid",
        "s_kwcid",
        "ef_id",
        "admitad_uid",
        "guccounter",
        "guce_referrer",
        "guce_referrer_sig",
        "spm",
        "scm_id",
        "_branch_match_id",
        "_branch_referrer",
        "sms_click",
        "sms_source",
        "mibextid",
        "_kx",
        "ml_subscriber",
        "ml_subscriber_hash",
        "elqtrack",
        "elqtrackid",
        "wt.mc_id",
        "wt_mc_id",
        "at_medium",
        "at_campaign",
        "ns_campaign",
        "ns_mchannel",
    ]
)

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_KEPT_IN_PATH = _UNRESERVED | frozenset("/:@!$&'()*+,;=%")
_KEPT_IN_QUERY = _KEPT_IN_PATH | frozenset("?")
_PLAIN_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_\-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_\-]*[a-z0-9_])?)*")

# A host whose last label is a number is an IPv4 address to browsers and resolvers, however it is spelled.
_NUMERIC_END = re.compile(r"(?:.*\.)?(?:\d+|0x[0-9a-f]*)")

_RESERVED_SUFFIXES = (
    *("example", "test", "invalid", "localhost"),  # RFC 2606 and 6761
    *("example.com", "example.net", "example.org"),
    # the IANA test domains in other scripts
    *("xn--kgbechtv", "xn--hgbk6aj7f53bba", "xn--0zwm56d", "xn--g6w251d", "xn--80akhbyknj4f", "xn--zckzah"),
    *("xn--11b5bs3a9aj6g", "xn--jxalpdlp", "xn--9t4b11yi5a", "xn--deba0ad", "xn--hlcj6aya9esc7a"),
)


class UnsafeLocator(Refusal):
    """A locator in a form that is never fetched; code ``fetch_unsafe``."""

    def __init__(self, text: str) -> None:
        super().__init__("fetch_unsafe", text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Locator:
    """One parsed locator.

    ``value`` is the canonical URL of a web locator, the clean relative (or absolute) path of a file, or a path of
    the desk.
    ``str(locator)`` is the canonical spelling; parsing it again gives the same value.
    """

    kind: Literal["web", "file", "desk"]
    value: str

    def __str__(self) -> str:
        return self.value if self.kind == "web" else f"{self.kind}:{self.value}"


def parse_locator(text: str) -> Locator:
    """Read any spelling of a URL, a ``file:`` or ``desk:`` locator or a plain path.

    Raises:
        UnsafeLocator: another scheme, control characters, too long, or a path that climbs with ``..``.
    """
    spelled = text.strip(" \t\r\n")
    _check_characters(spelled)
    scheme = _SCHEME.match(spelled)
    if scheme is None:
        return Locator(kind="file", value=_clean_path(spelled, shown=spelled))
    name = scheme[1].lower()
    if name in ("http", "https"):
        return Locator(kind="web", value=canonical_url(spelled))
    if name == "file":
        return Locator(kind="file", value=_clean_path(_file_path(spelled[scheme.end() :]), shown=spelled))
    if name == "desk":
        return Locator(kind="desk", value=_desk_path(spelled[scheme.end() :]))
    if "." in name:  # `notes.v2:draft.md` is a file name, not a scheme anybody uses
        return Locator(kind="file", value=_clean_path(spelled, shown=spelled))
    raise UnsafeLocator(f"cannot fetch {_shown(spelled)}: only http, https, file and desk locators are read")


def canonical_url(url: str) -> str:
    """Give the one spelling that stands for a page.

    Scheme and host are lower-cased (IDNA for other scripts), ``http`` becomes ``https``, and the default
    port, fragment, dot segments, ``utm_*`` and click ids, empty query and needless percent-encoding go. The
    other query pairs keep their order; ``www.`` and a trailing slash stay, as they may select another page
    (see `loose_key`). Applying it twice changes nothing.

    Raises:
        UnsafeLocator: not http(s), no host, a bad host or port, user information, control characters.
    """
    parts = _web_parts(url)
    query = _canonical_query(parts.query)
    # A page of `http://host:443` would else change its name when its name is read again.
    port = None if parts.port == 443 else parts.port
    return _joined("https", parts.host, port, parts.path, query)


def request_url(url: str) -> str:
    """Give the URL that a page is asked for with: as `canonical_url`, but scheme, port and query stay as given.

    Raises:
        UnsafeLocator: as `canonical_url`.
    """
    parts = _web_parts(url)
    return _joined(
        parts.scheme, parts.host, parts.port, parts.path, _escape(parts.query, keep=_KEPT_IN_QUERY)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _WebParts:
    scheme: str
    host: str
    port: int | None  # None where it is the scheme's own
    path: str
    query: str


def _web_parts(url: str) -> _WebParts:
    spelled = url.strip(" \t\r\n")
    _check_characters(spelled)
    scheme = _SCHEME.match(spelled)
    if scheme is None or scheme[1].lower() not in ("http", "https"):
        raise UnsafeLocator(f"cannot fetch {_shown(spelled)}: a web locator starts with https:// or http://")
    try:
        parts = urlsplit(spelled)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise UnsafeLocator(f"cannot read the URL {_shown(spelled)}: {error}") from None
    if "@" in parts.netloc:
        raise UnsafeLocator("a URL with a user name or password in it is not fetched; write it without them")
    if not spelled[scheme.end() :].startswith("//") or "\\" in parts.netloc:
        raise UnsafeLocator(f"cannot read the URL {_shown(spelled)}: write https://host/path")
    default = 443 if parts.scheme == "https" else 80
    return _WebParts(
        scheme=parts.scheme,
        host=canonical_host(host),
        port=None if port == default else port,
        path=_canonical_path(parts.path),
        query=parts.query,
    )


def _joined(scheme: str, host: str, port: int | None, path: str, query: str) -> str:
    authority = host if port is None else f"{host}:{port}"
    return f"{scheme}://{authority}{path}" + (f"?{query}" if query else "")


def canonical_host(host: str) -> str:
    """Give a host in lower-case ASCII (IDNA, UTS 46), an IPv6 address in brackets, no final dot.

    Raises:
        UnsafeLocator: nothing left, characters that no host has, an IPv4 address in another spelling than four
            decimal numbers (``0x7f.1``, ``2130706433``), an IPv6 address with a zone.
    """
    name = unquote(host).strip("[]").removesuffix(".").lower()
    if ":" in name:
        try:
            address = ipaddress.IPv6Address(name)
        except ValueError:
            raise UnsafeLocator(f"{_shown(host)} is not a host") from None
        if address.scope_id is not None:
            raise UnsafeLocator(f"{_shown(host)} names a network interface of one machine; it is not fetched")
        return f"[{address.compressed}]"
    if not name.isascii():
        try:
            name = idna.encode(name, uts46=True, transitional=False).decode("ascii").rstrip(".")
        except (idna.IDNAError, UnicodeError):
            raise UnsafeLocator(f"{_shown(host)} is not a host") from None
    if len(name) > 253 or not _PLAIN_HOST.fullmatch(name):
        raise UnsafeLocator(f"{_shown(host)} is not a host")
    if _NUMERIC_END.fullmatch(name):
        try:
            return str(ipaddress.IPv4Address(name))
        except ValueError:
            raise UnsafeLocator(f"{_shown(host)} is an address in an odd spelling; write a.b.c.d") from None
    return name


def is_web(locator: str) -> bool:
    """Whether a locator is the address of a page on the web; what cannot be read as a locator is none."""
    try:
        return parse_locator(locator).kind == "web"
    except UnsafeLocator:
        return False


def path_of(locator: str) -> str:
    """The path that a file's or a desk file's locator holds; another locator as it is."""
    return locator.removeprefix("file:").removeprefix("desk:")


def host_of(url: str) -> str:
    """Give the canonical host of a URL, without port and brackets."""
    return (urlsplit(canonical_url(url)).hostname or "").rstrip(".")


def loose_key(url: str) -> str:
    """Give a coarser key: canonical URLs with one key *may* be one page (``www.``, trailing slash).

    Merge two of them only where their texts agree.
    """
    head, mark, query = canonical_url(url).removeprefix("https://").partition("?")
    return head.removeprefix("www.").rstrip("/") + mark + query


def same_locator(first: str, second: str) -> bool:
    """Say whether two spellings name one page or file; what cannot be read equals only itself."""
    try:
        return str(parse_locator(first)) == str(parse_locator(second))
    except UnsafeLocator:
        return first == second


def is_reserved_host(host: str) -> bool:
    """Say whether a host can never publish anything: ``example.com``, ``.test``, ``.invalid``, ``localhost`` …"""
    try:
        name = canonical_host(host)
    except UnsafeLocator:
        return False
    return any(name == suffix or name.endswith(f".{suffix}") for suffix in _RESERVED_SUFFIXES)


def _check_characters(spelled: str) -> None:
    if not spelled:
        raise UnsafeLocator("the locator is empty; give a URL or the path of a file")
    if len(spelled) > MAX_LOCATOR:
        raise UnsafeLocator(f"the locator has {len(spelled)} characters; at most {MAX_LOCATOR} are read")
    if _CONTROL.search(spelled):
        raise UnsafeLocator("the locator holds control characters")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 120 else text[:117] + "…")


def _file_path(rest: str) -> str:
    """Give the path of a ``file:`` locator; only the URL form ``file://`` is percent-encoded."""
    if not rest.startswith("//"):
        return rest
    host, slash, path = rest[2:].partition("/")
    if host not in ("", "localhost"):
        raise UnsafeLocator(f"file://{host[:80]}/… names another machine; only local files are read")
    decoded = unquote(slash + path, errors="replace")
    _check_characters(decoded)
    return decoded


def _desk_path(path: str) -> str:
    try:
        return clean_path(path)
    except Refusal as refusal:
        raise UnsafeLocator(refusal.text) from None


def _clean_path(path: str, *, shown: str) -> str:
    segments = [segment for segment in path.split("/") if segment not in ("", ".")]
    if ".." in segments:
        raise UnsafeLocator(f"{_shown(shown)} climbs out with '..'; name a file by its path under the corpus")
    if not segments:
        raise UnsafeLocator(f"{_shown(shown)} names no file")
    return ("/" if path.startswith("/") else "") + "/".join(segments)


def _canonical_path(path: str) -> str:
    escaped = _escape(path, keep=_KEPT_IN_PATH)
    kept: list[str] = []
    segments = escaped.split("/")[1:] if escaped else [""]
    for segment in segments:
        if segment == "..":
            kept = kept[:-1]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _canonical_query(query: str) -> str:
    pairs = (pair for pair in query.split("&") if pair and not _is_tracking(pair))
    return "&".join(_escape(pair, keep=_KEPT_IN_QUERY) for pair in pairs)


def _is_tracking(pair: str) -> bool:
    name = unquote(pair.partition("=")[0]).strip().lower()
    return name in _TRACKING or name.startswith(_TRACKING_PREFIXES)


def _escape(text: str, *, keep: frozenset[str]) -> str:
    """Decode escapes of unreserved characters, write the others in capitals, encode what may not stand bare."""
    pieces: list[str] = []
    position = 0
    for match in _ESCAPE.finditer(text):
        pieces.append(_encode(text[position : match.start()], keep=keep))
        character = chr(int(match[1], 16))
        pieces.append(character if character in _UNRESERVED else f"%{match[1].upper()}")
        position = match.end()
    pieces.append(_encode(text[position:], keep=keep))
    return "".join(pieces)


def _encode(text: str, *, keep: frozenset[str]) -> str:
    bare = keep - {"%"}
    return "".join(
        character if character in bare else "".join(f"%{byte:02X}" for byte in character.encode())
        for character in text
    )
