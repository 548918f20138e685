"""Executes the notebooks and stores what they show.

Times, paths and what else belongs to one machine or one moment are taken out of what is stored.
"""

import argparse
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent
SECONDS = 120
A_TIME = "2026-01-05T09:00:00"
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:\+00:00|Z)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?!T)")
_FOLDER = re.compile(rf"{re.escape(tempfile.gettempdir())}/[\w.-]+(?:/[\w.-]+)*")
#: What else is another each time, and what stands in its place.
_OTHERS = (
    (re.compile(r'boundary="\w+"'), 'boundary="…"'),
    (re.compile(r"SQLite \d[\d.]*"), "SQLite"),
    (re.compile(r"\bf_[0-9a-f]{12}\b"), "f_…"),
    (re.compile(r"sha256:[0-9a-f]{64}"), "sha256:…"),
)
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def executed(notebook: Path, folder: Path) -> Any:
    """The notebook with what it shows when it is run in a folder that has the corpus; nothing of it is changed.

    Raises:
        CellExecutionError: a cell failed.
    """
    shutil.copytree(HERE / "corpus", folder / "corpus", dirs_exist_ok=True)
    node = nbformat.read(notebook, as_version=4)
    client = NotebookClient(
        node,
        timeout=SECONDS,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    )
    client.extra_arguments = ["--log-level=ERROR"]
    client.execute(env=_environment())
    return cleaned(node)


def _environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("RESEARCHDESK_")}
    quiet = {"LANGSMITH_TRACING": "false", "PYDEVD_DISABLE_FILE_VALIDATION": "1", "COLUMNS": "100"}
    return kept | quiet | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def cleaned(node: Any) -> Any:
    """The notebook without what differs between machines and times; values that have a picture keep only that."""
    node.metadata = nbformat.from_dict(_METADATA)
    for number, cell in enumerate(node.cells):
        cell.id = f"cell-{number:02}"
        cell.metadata = {}
        for output in cell.get("outputs", ()):
            output.pop("transient", None)
            if "text" in output:
                output.text = _settled(output.text)
            if "data" in output:
                output.metadata = {}
                shown = {kind: _settled(str(value)) for kind, value in output.data.items()}
                if len(shown) > 1:
                    shown.pop("text/plain", None)
                output.data = shown
    return node


def _settled(text: str) -> str:
    """A text with one time for all times and no path of this machine."""
    dated = _DATE.sub(A_TIME[:10], _TIME.sub(A_TIME, text))
    settled = _FOLDER.sub("~/desk", dated)
    for found, put in _OTHERS:
        settled = found.sub(put, settled)
    return settled


def main(words: list[str]) -> None:
    """Execute the named notebooks, or all of them, and write them back."""
    known = {path.stem: path for path in sorted(HERE.glob("*.ipynb"))}
    parser = argparse.ArgumentParser(prog="refresh.py", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(known)}; default: all")
    names = [name.removesuffix(".ipynb") for name in parser.parse_args(words).names] or list(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"there is no notebook {unknown[0]!r}; there are {', '.join(known)}")
    for path in map(known.__getitem__, names):
        with tempfile.TemporaryDirectory() as folder:
            nbformat.write(executed(path, Path(folder)), path)
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
