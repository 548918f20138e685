"""Commands whose standard streams are closed, full or read by nobody, and signals that come when all is done."""

import io
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.graph.cli.test_cli import COMMAND, QUESTION, call, started

from researchdesk.graph.driving import Terms, drive
from researchdesk.graph.exits import Exit
from researchdesk.graph.options import RunOptions
from researchdesk.tools.workspace import Desk, open_desk


class Full(io.StringIO):
    """A stream to a disk that is full."""

    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


def in_shell(*arguments: str | Path, then: str) -> subprocess.CompletedProcess[str]:
    command = shlex.join([*COMMAND, *map(str, arguments)])
    return subprocess.run(["sh", "-c", f"{command} {then}"], capture_output=True, text=True, check=False)


def test_a_closed_stderr_changes_nothing_and_no_database_gets_its_number(
    corpus: Path, tmp_path: Path
) -> None:
    run = ("run", QUESTION, "--corpus", corpus, "--home", tmp_path, "--scope", "quick")
    done = in_shell(*run, then="2>&- <&-")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("r1\n\n# What rate limit")
    assert call("verify", "--home", tmp_path).exit_code == 0


@pytest.mark.parametrize("arguments", [["sessions"], ["--help"], ["run", QUESTION, "--corpus", "."]])
def test_a_closed_stdout_is_one_message_before_anything_is_done(arguments: list[str], tmp_path: Path) -> None:
    home = [] if arguments == ["--help"] else ["--home", str(tmp_path / "new")]
    done = in_shell(*arguments, *home, then=">&-")
    assert (done.returncode, list(tmp_path.iterdir())) == (1, [])
    assert done.stderr == (
        "researchdesk: stdout is closed, so that no result can be printed; send it to a file or /dev/null\n"
    )


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["tools"], ["tools", "--json"]])
def test_a_stdout_that_takes_no_more_is_one_message(arguments: list[str], tmp_path: Path) -> None:
    command = shlex.join([*COMMAND, *arguments])
    script = f"ulimit -f 0; {command} > {shlex.quote(str(tmp_path / 'out'))}"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "researchdesk: cannot write to stdout: File too large\n")


def test_a_table_on_a_stdout_that_takes_no_more_is_one_message(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from researchdesk.graph.cli_show import sessions
    from researchdesk.state.errors import Unavailable

    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(Unavailable, match="cannot write to stdout: No space left"):
        sessions(home=str(desk.home))


def test_a_run_whose_stdout_takes_no_more_stops_and_can_be_resumed(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = RunOptions(corpus=(str(corpus),), scope="quick")
    with open_desk(tmp_path) as desk:
        monkeypatch.setattr(sys, "stdout", Full())
        assert drive(desk, "r1", options, objective=QUESTION, terms=Terms(json=True)) is Exit.FAILED
        monkeypatch.undo()
        said = capsys.readouterr().err
        assert "cannot write to stdout: No space left on device\n" in said and "unexpected" not in said
        assert f"resume  researchdesk resume r1 --home {tmp_path}\n" in said
    assert call("resume", "--home", tmp_path).exit_code == 0
    with open_desk(tmp_path) as desk:
        monkeypatch.setattr(sys, "stdout", Full())
        assert drive(desk, "r1", options, objective=QUESTION, terms=Terms()) is Exit.FAILED


def test_a_run_goes_on_when_nobody_reads_its_progress(corpus: Path, tmp_path: Path) -> None:
    run = started("run", QUESTION, "--corpus", corpus, "--home", tmp_path, "--scope", "quick")
    assert run.stdout is not None and run.stderr is not None
    run.stderr.close()
    out = run.stdout.read()
    run.stdout.close()
    assert (run.wait(timeout=60), "- **Status:** completed\n" in out) == (0, True)


@pytest.mark.parametrize("late", ["SIGTERM", "SIGINT"])
def test_a_signal_after_the_result_leaves_the_exit_code(late: str, corpus: Path, tmp_path: Path) -> None:
    words = ["researchdesk", "run", QUESTION, "--corpus", str(corpus), "--home", str(tmp_path)]
    words += ["--scope", "quick"]
    script = (
        "import atexit, os, signal, sys\nfrom researchdesk.graph import cli\n"
        f"atexit.register(lambda: os.kill(os.getpid(), signal.{late}))\nsys.argv = {words}\ncli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-2] == "completed"


def test_a_report_that_cannot_be_kept_is_printed_all_the_same(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "reports").write_text("in the way")
    done = call("run", QUESTION, "--corpus", corpus, "--home", tmp_path, "--scope", "quick")
    assert (done.exit_code, "- **Status:** completed\n" in done.stdout) == (0, True)
    assert "no copy of the report is kept: cannot write" in done.stderr
