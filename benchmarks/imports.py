"""What importing costs: ``python benchmarks/imports.py [--repeat 7]``, in CPU time of new processes.

Importing researchdesk against importing LangGraph, less what the interpreter costs alone, one after the other in turn;
and what the command line loads for commands that drive no graph.
"""

import argparse
import resource
import subprocess
import sys
import tempfile

from sessions import middle
from showing import Bar, add_no_fail, finish

STATEMENTS = ("pass", "import researchdesk", "from researchdesk import open_desk", "import langgraph.graph")
HEAVY = ("langgraph", "langchain_core", "duckdb", "trafilatura")
COMMANDS = (["--help"], ["status"])
LOADED = (
    "import sys\n"
    "from researchdesk.graph.cli import main\n"
    "sys.argv = ['researchdesk', *{arguments!r}]\n"
    "try:\n    main()\nexcept SystemExit:\n    pass\n"
    "print(sum(name in sys.modules for name in {heavy!r}), file=sys.stderr)\n"
)


def spent(statement: str) -> float:
    """CPU milliseconds of a new process that does this."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1000


def loaded(arguments: list[str]) -> int:
    """How many of the heavy packages a command loads."""
    statement = LOADED.format(arguments=arguments, heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", statement], check=True, capture_output=True, text=True)
    return int(done.stderr.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=7)
    add_no_fail(parser)
    given = parser.parse_args()
    for statement in STATEMENTS:
        spent(statement)
    rounds = [[spent(statement) for statement in STATEMENTS] for _ in range(given.repeat)]
    bare = [[ms - found[0] for ms in found[1:]] for found in rounds]
    rows = [
        (statement, f"{middle([found[at] for found in rounds]):.0f}")
        for at, statement in enumerate(STATEMENTS)
    ]
    bars = [
        Bar(
            name="import researchdesk / import langgraph.graph",
            value=middle([max(f[0], 0.0) / f[2] for f in bare]),
            bar=0.12,
        )
    ]
    with tempfile.TemporaryDirectory(prefix="imports-") as home:
        for command in COMMANDS:
            arguments = [*command, "--home", home] if command == ["status"] else command
            shown = " ".join(command)
            bars.append(
                Bar(
                    name=f"`researchdesk {shown}`: of {', '.join(HEAVY)} loaded",
                    value=loaded(arguments),
                    bar=0,
                    unit="",
                )
            )
    finish("a new process", ("", "CPU ms"), rows, bars, no_fail=given.no_fail)


if __name__ == "__main__":
    main()
