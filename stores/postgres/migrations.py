"""Numbered schema steps: each file in `schema/` runs once, in order, in one transaction."""

import contextlib
import functools
import hashlib
import secrets
from importlib.resources import files
from typing import Any

import psycopg
from psycopg import Connection

from researchdesk.state.errors import NotFound, Unavailable
from researchdesk.stores.postgres.address import Address
from researchdesk.stores.postgres.connection import connect, postgres_errors

# Everything that the steps make, by name and definition, of the schema that the search path names.
_CATALOGUE = """
WITH here AS (SELECT oid FROM pg_namespace WHERE nspname = current_schema()),
    relations AS (
        SELECT * FROM pg_class WHERE relnamespace = (SELECT oid FROM here) AND relkind IN ('r', 'v', 'p', 'm')
    )
SELECT r.relname || '.' || a.attname, format_type(a.atttypid, a.atttypmod)
        || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END || coalesce(' ' || l.collname, '')
        || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '')
    FROM relations r JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_collation l ON l.oid = a.attcollation
    LEFT JOIN pg_attrdef d ON d.adrelid = r.oid AND d.adnum = a.attnum
UNION ALL SELECT r.relname || ' ' || c.conname, pg_get_constraintdef(c.oid)
        || CASE WHEN convalidated THEN '' ELSE '!' END
    FROM relations r JOIN pg_constraint c ON c.conrelid = r.oid
UNION ALL SELECT r.relname || ' ' || t.tgname,
        replace(pg_get_triggerdef(t.oid, true), quote_ident(current_schema()) || '.', '') || t.tgenabled::text
    FROM relations r JOIN pg_trigger t ON t.tgrelid = r.oid WHERE NOT t.tgisinternal
UNION ALL SELECT i.relname, replace(pg_get_indexdef(x.indexrelid), quote_ident(current_schema()) || '.', '')
        || CASE WHEN x.indisvalid THEN '' ELSE '!' END
    FROM relations r JOIN pg_index x ON x.indrelid = r.oid JOIN pg_class i ON i.oid = x.indexrelid
UNION ALL SELECT r.relname, pg_get_viewdef(r.oid) FROM relations r WHERE r.relkind = 'v'
UNION ALL SELECT r.relname || ' ' || u.rulename, pg_get_ruledef(u.oid)
    FROM relations r JOIN pg_rewrite u ON u.ev_class = r.oid WHERE r.relkind <> 'v'
UNION ALL SELECT p.proname, pg_get_function_arguments(p.oid) || p.prosrc
    FROM pg_proc p WHERE p.pronamespace = (SELECT oid FROM here)
UNION ALL SELECT d.dictname, t.tmplname || coalesce(' ' || d.dictinitoption, '')
    FROM pg_ts_dict d JOIN pg_ts_template t ON t.oid = d.dicttemplate WHERE d.dictnamespace = (SELECT oid FROM here)
UNION ALL SELECT c.cfgname || ' ' || m.maptokentype || ' ' || m.mapseqno, d.dictname
    FROM pg_ts_config c JOIN pg_ts_config_map m ON m.mapcfg = c.oid JOIN pg_ts_dict d ON d.oid = m.mapdict
    WHERE c.cfgnamespace = (SELECT oid FROM here)
"""

_STRANGE = (
    "SELECT has_schema_privilege(oid, 'USAGE'), EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = n.oid) "
    "OR EXISTS (SELECT 1 FROM pg_proc WHERE pronamespace = n.oid) FROM pg_namespace AS n WHERE nspname = %s"
)


def steps() -> list[tuple[int, str]]:
    """The schema steps of this version: number and SQL text."""
    folder = files("researchdesk.stores.postgres") / "schema"
    found = sorted(
        (item for item in folder.iterdir() if item.name.endswith(".sql")), key=lambda item: item.name
    )
    return [(int(item.name[:3]), item.read_text(encoding="utf-8")) for item in found]


def catalogue(connection: Connection[Any]) -> set[tuple[str, str]]:
    """Name and definition of everything that is in the desk's schema."""
    return set(connection.execute(_CATALOGUE).fetchall())


def expected_catalogue(address: Address) -> set[tuple[str, str]]:
    """Name and definition of everything that this version's steps make on this server."""
    return set(_made_for_a_look(address))


@functools.lru_cache(maxsize=4)
def _made_for_a_look(address: Address) -> frozenset[tuple[str, str]]:
    """The catalogue of a schema that nobody else ever sees."""
    name = f"look_{secrets.token_hex(8)}"
    with postgres_errors(address), contextlib.closing(connect(address, schema=name)) as connection:
        connection.execute("BEGIN")
        try:
            connection.execute(f"CREATE SCHEMA {name}")
        except psycopg.errors.InsufficientPrivilege:
            raise Unavailable(
                f"{address.shown}: the desk's schema is compared with one that is made for a moment, and this user may "
                "make none. Grant it CREATE on the database, then verify again"
            ) from None
        for _, sql in steps():
            connection.execute(sql)
        found = catalogue(connection)
        connection.execute("ROLLBACK")
    return frozenset(found)


def migrate(connection: Connection[Any], address: Address, *, make: bool = True) -> int:
    """Bring a desk's schema to this version's; returns its number. A second time changes nothing.

    Args:
        make: whether a desk that is not there yet is made.

    Raises:
        NotFound: there is no desk, and none is to be made.
        Unavailable: the schema was written by a newer version, or belongs to another program.
    """
    newest = steps()[-1][0]
    with postgres_errors(address):
        found = _found(connection, address)
        if found == newest:
            return newest
        if not found and not make:
            raise NotFound(f"no desk at {address.shown}; start one with `researchdesk run`")
        with connection.transaction():
            # Only one process migrates; the others find what it made.
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (lock_number("migrate", address.schema),))
            found = _found(connection, address)
            if found < newest:
                _run(connection, address, after=found)
    return newest


def _run(connection: Connection[Any], address: Address, *, after: int) -> None:
    there = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (address.schema,))
    if there.fetchone() is None:  # not IF NOT EXISTS, for which a right is needed even where it exists
        connection.execute(f'CREATE SCHEMA "{address.schema}"')  # it may be a word of SQL
    for number, sql in steps():
        if number > after:
            connection.execute(sql)
            connection.execute("INSERT INTO schema_steps (number) VALUES (%s)", (number,))


def _found(connection: Connection[Any], address: Address) -> int:
    """The newest step that was done here; 0 where there is nothing.

    Raises:
        Unavailable: as `migrate`.
    """
    newest = steps()[-1][0]
    row = connection.execute("SELECT to_regclass('schema_steps')").fetchone()
    if row is not None and row[0] is not None:
        row = connection.execute("SELECT max(number) FROM schema_steps").fetchone()
    if row is None or row[0] is None:
        there = connection.execute(_STRANGE, (address.schema,)).fetchone()
        if there and not there[0]:
            raise Unavailable(
                f"{address.shown}: this user may not use the schema {address.schema}. Grant it the schema and its "
                "tables, then try again"
            )
        if there and there[1]:
            raise Unavailable(
                f"{address.shown} holds tables or functions of another program; choose another schema"
            )
        return 0
    found = int(row[0])
    if found > newest:
        raise Unavailable(
            f"{address.shown} was written by a newer version (schema {found}, this one knows {newest}). "
            "Upgrade researchdesk to open it; nothing was changed"
        )
    return found


def lock_number(*words: str) -> int:
    """The number under which the server knows a lock of this desk."""
    digest = hashlib.sha256("\x1f".join(("researchdesk", *words)).encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
