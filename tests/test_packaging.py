"""The package as others get it: the wheel, an installed copy, links for development, clean words."""

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import pytest

ROOT = Path(__file__).resolve().parents[1]
DEVELOPMENT = ROOT / ".src" / "researchdesk"
ROOMS = sorted(entry.name for entry in DEVELOPMENT.iterdir() if entry.is_symlink())
SCRATCH = {"__pycache__", ".DS_Store"}


def output_of(*command: str | Path, cwd: Path, **environment: str) -> str:
    """The command's output; the test fails with its error output when the command does."""
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=os.environ | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files_of(room: str) -> Iterator[str]:
    """Paths of a room's files as the package names them, e.g. `researchdesk/state/errors.py`."""
    for path in (ROOT / room).rglob("*"):
        if path.is_file() and not SCRATCH.intersection(path.parts):
            yield f"researchdesk/{path.relative_to(ROOT).as_posix()}"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    output_of(sys.executable, "-P", "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which that wheel was installed, far from the checkout."""
    if find_spec("pip") is None:
        pytest.skip("this environment has no pip")
    target = tmp_path_factory.mktemp("installed")
    install = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", target, wheel)
    output_of(sys.executable, "-P", *install, cwd=target)
    return target


def test_the_wheel_holds_the_files_of_every_room_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    package = {name for name in names if ".dist-info/" not in name}
    rooms = {name for room in ROOMS for name in files_of(room)}
    assert package == rooms | {"researchdesk/__init__.py", "researchdesk/py.typed"}
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_an_installed_copy_imports_without_the_checkout(installed: Path) -> None:
    shown = output_of(
        *(sys.executable, "-P", "-c", "import researchdesk; print(researchdesk.__file__)"),
        cwd=installed,
        PYTHONPATH=str(installed),
    )
    assert Path(shown.strip()) == installed / "researchdesk" / "__init__.py"


@pytest.mark.skipif(not (ROOT / "graph" / "cli.py").exists(), reason="there is no command line yet")
def test_the_command_line_of_an_installed_copy_shows_its_help(installed: Path) -> None:
    command = (sys.executable, "-P", "-m", "researchdesk.graph.cli", "--help")
    assert "resume" in output_of(*command, cwd=installed, PYTHONPATH=str(installed))


def test_the_development_folder_links_each_room_relatively() -> None:
    links = {room: (DEVELOPMENT / room).readlink().as_posix() for room in ROOMS}
    assert links == {room: f"../../{room}" for room in ROOMS}
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages == set(ROOMS)


def test_the_continuous_integration_runs_the_commands_of_the_readme() -> None:
    block = re.search(r"<!-- tests -->\n```bash\n(.+?)\n```\n", (ROOT / "README.md").read_text(), re.DOTALL)
    assert block is not None
    assert block[1].splitlines()[-1].endswith("&& .venv/bin/python check.py")
    script = (ROOT / ".ci" / "run").read_text()
    assert "<!-- tests -->" in script
    assert "check.py" not in script
    assert "pip install" not in script
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_no_file_names_a_package_host_or_the_folder_it_was_written_in() -> None:
    if not (ROOT / ".git").exists() or which("git") is None:
        pytest.skip("not a git checkout, or no git")
    # Put together from parts, so that this file does not name them either.
    hosts = [".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"))]
    folders = ["/".join(("", name, "")) for name in ("work", "farm", ".library")]
    forbidden = re.compile("|".join(rf"(?<!\w){re.escape(word)}" for word in (*hosts, *folders)))
    # The checkout may belong to another user than the one who tests it.
    listed = output_of("git", "-c", "safe.directory=*", "ls-files", "-z", cwd=ROOT).split("\0")
    texts = {name: (ROOT / name).read_bytes() for name in listed if name and (ROOT / name).is_file()}
    named = {
        f"{name}: {found[0]}"
        for name, body in texts.items()
        if (found := forbidden.search(body.decode(errors="replace")))
    }
    assert named == set()
