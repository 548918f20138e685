"""Where a desk lies on a PostgreSQL server: the server, the database and the schema that is this desk's own."""

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from researchdesk.state.errors import UsageError

SCHEMES = ("postgresql", "postgres")
DEFAULT_SCHEMA = "researchdesk"
# Short enough that the schema of the checkpoints can have this one's name and a suffix.
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,49}")
_SEARCH_PATH = re.compile(r"\s*(?:-c\s*|--)search[_-]path=(\S+)")
_SECRETS = frozenset(
    {
        *("password", "sslpassword", "passfile", "oauth_client_secret"),
        *("scram_client_key", "scram_server_key"),
    }
)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
# One server or several, each with a port where it is not the usual one.
_SERVER = r"(?:\[[0-9A-Fa-f:.%]+\]|[^\[\]:@]*)(?::\d*)?"
_SERVERS = re.compile(rf"{_SERVER}(?:,{_SERVER})*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A server's URL as libpq takes it (``conninfo``), and the schema; ``options`` go to the server as they are."""

    conninfo: str = field(repr=False)
    """May hold a password: for the driver alone."""
    schema: str
    options: str = ""
    shown: str = ""
    """The whole address without secrets, fit for a message and to be opened again."""

    @property
    def checkpoints(self) -> str:
        """The schema of LangGraph's checkpoints, whose tables have names of their own."""
        return f"{self.schema}_langgraph"

    @property
    def folder(self) -> str:
        """A name for what a local folder keeps about this desk."""
        words = re.split(r"[^A-Za-z0-9_]+", self.shown.partition("://")[2].rpartition("@")[2])
        return "-".join(word for word in words if word and word != "schema")[:100]


def is_address(home: object) -> bool:
    """Whether this is a URL, which only a PostgreSQL desk has, not a folder."""
    return isinstance(home, str) and (
        home.startswith(tuple(f"{scheme}:" for scheme in SCHEMES)) or _URL.match(home) is not None
    )


def shown_home(home: str) -> str:
    """What names a desk, fit for a message: a URL without secrets, a folder as it is."""
    return parse_address(home).shown if is_address(home) else home


def parse_address(url: str) -> Address:
    """The address that a URL names: ``postgresql://user@host:port/database?schema=name``.

    The schema is `researchdesk` where neither ``schema=`` nor ``options=-csearch_path=`` names one; other
    parameters are libpq's.

    Raises:
        UsageError: it is no such URL, the schema's name is not made of a-z, 0-9 and ``_``, or a character of its user
            or password divides a URL, so that a part of a password would be taken for a server's name.
    """
    try:
        parts = urlsplit(url)
        given = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        host = parts.netloc.rpartition("@")[2]
        user = unquote(parts.username or "")
    except ValueError:
        raise UsageError(
            "this is no URL of a PostgreSQL desk; write postgresql://user@host/database"
        ) from None
    if parts.scheme not in SCHEMES or not url.startswith(f"{parts.scheme}://"):
        raise UsageError(
            f"'{url.partition(':')[0][:30]}:…' names no desk. A desk is a folder, or "
            "postgresql://user@host/database?schema=name"
        )
    if parts.netloc.count("@") > 1 or "@" in parts.path + parts.fragment or not _SERVERS.fullmatch(host):
        raise UsageError(
            "this URL of a PostgreSQL desk cannot be taken apart safely: in user and password, write @ as %40, / as "
            "%2F, : as %3A, # as %23 and ? as %3F; or leave the password to ~/.pgpass. A port is a number"
        )
    named = {key: value for key, value in given if key in ("schema", "options")}
    rest = [(key, value) for key, value in given if key not in named]
    options = named.get("options", "")
    search_path = _SEARCH_PATH.search(options)
    schema = named.get("schema") or (search_path[1] if search_path else DEFAULT_SCHEMA)
    if not _SCHEMA.fullmatch(schema):
        raise UsageError(
            f"schema '{schema[:100]}' cannot hold a desk: its name is one of a-z, 0-9 and _, at most 50 characters"
        )
    options = _SEARCH_PATH.sub("", options).strip()
    shown = [(key, value) for key, value in rest if key.lower() not in _SECRETS]
    shown += [*([("options", options)] if options else []), ("schema", schema)]
    return Address(
        conninfo=_url(parts.scheme, parts.netloc, parts.path, rest),
        schema=schema,
        options=options,
        shown=_url("postgresql", f"{quote(user)}@{host}" if user else host, parts.path, shown),
    )


def _url(scheme: str, where: str, path: str, parameters: list[tuple[str, str]]) -> str:
    query = urlencode(parameters, quote_via=quote)
    return f"{scheme}://{where}{path}{'?' if query else ''}{query}"
