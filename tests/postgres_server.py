"""The PostgreSQL server that tests may use, and a schema for each of them."""

import functools
import getpass
import os
import secrets
from collections.abc import Iterator

VARIABLE = "RESEARCHDESK_TEST_POSTGRES"
NO_SERVER = (
    f"no PostgreSQL server: set {VARIABLE}=postgresql://user@host/database, or run one on 127.0.0.1:5432"
)


def candidates() -> list[str]:
    """The URL that the environment names, else the usual ones of a server on this machine."""
    named = os.environ.get(VARIABLE, "")
    users = dict.fromkeys((getpass.getuser(), "postgres"))
    return [named] if named else [f"postgresql://{user}@127.0.0.1:5432/test" for user in users]


@functools.cache
def server() -> str:
    """The URL of a database that lets us in; empty where there is none."""
    try:
        import psycopg
    except ImportError:
        return ""
    for url in candidates():
        try:
            psycopg.connect(url, connect_timeout=3).close()
        except psycopg.Error:
            continue
        return url
    if VARIABLE in os.environ:
        raise AssertionError(f"{VARIABLE} names a server that cannot be reached")
    return ""


def schemas() -> Iterator[str]:
    """URLs of a desk in a new schema, which is dropped afterwards."""
    import psycopg

    schema = f"test_{secrets.token_hex(8)}"
    url = server()
    yield f"{url}{'&' if '?' in url else '?'}schema={schema}"
    with psycopg.connect(url, autocommit=True) as connection:
        for name in (schema, f"{schema}_langgraph"):
            connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")
