"""Copies of a mirror: a DuckDB file that many may read at once, and Parquet files for other programs."""

import contextlib
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from researchdesk.state.errors import Unavailable, UsageError
from researchdesk.stores.mirror.opening import MIRROR, is_damaged, is_duckdb, literal, log_of, reason
from researchdesk.stores.mirror.schema import ALL, VIEWS, view_statements


def snapshot(connection: DuckDBPyConnection, target: Path) -> None:
    """As `Mirror.snapshot`."""
    if target.exists() and not is_duckdb(target):
        raise UsageError(f"{target} is there and no DuckDB file; name another one")
    with _in_place_of(target) as part:
        connection.execute(f"ATTACH {literal(part)} AS copied").fetchall()
        for table in (*ALL, "mirror_info"):
            connection.execute(f"CREATE TABLE copied.{table} AS FROM {MIRROR}.{table}").fetchall()
        connection.execute("USE copied").fetchall()
        for statement in view_statements():
            connection.execute(statement).fetchall()
        connection.execute(f"USE {MIRROR}").fetchall()
        connection.execute("DETACH copied").fetchall()


def export(connection: DuckDBPyConnection, folder: Path) -> list[Path]:
    """As `Mirror.export`; gives the files."""
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise UsageError(f"{folder} is there and not empty; name a new folder")
    names = (*ALL, *VIEWS)
    with _in_place_of(folder) as part:
        part.mkdir()
        for name in names:
            file = literal(part / f"{name}.parquet")
            connection.execute(f"COPY (FROM {name}) TO {file} (FORMAT parquet, COMPRESSION zstd)").fetchall()
    return [folder / f"{name}.parquet" for name in names]


@contextlib.contextmanager
def _in_place_of(target: Path) -> Iterator[Path]:
    """A path beside ``target``; what stands there takes its place when the block ends, and is gone where it fails.

    Raises:
        duckdb.Error: the mirror is damaged.
        Unavailable: it cannot be written.
    """
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield part
        part.replace(target)
    except (duckdb.Error, OSError) as problem:
        if is_damaged(problem):
            raise
        raise Unavailable(f"cannot write {target}: {reason(problem)}") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
        for left in (part, log_of(part)):
            with contextlib.suppress(OSError):
                left.unlink()
