"""Which versions are supported: setup.cfg decides, the pages follow, and `make test-versions` takes them.

Of the Pythons that it calls only the names are real here.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Of Python, TensorFlow and Keras.
OLDEST = dict(
    re.findall(r"(python|tensorflow|keras)(?:_requires = )?>=([\d.]+)", (ROOT / "setup.cfg").read_text())
)
TENSORFLOW, KERAS = (f"{name}=={OLDEST[name]}.*" for name in ("tensorflow", "keras"))

# As its own program, as pip and as pytest; `venv` copies it into the environment.
PYTHON = """#!/usr/bin/env bash
case "$(basename "$0") $*" in
    *"-m venv"*)
        mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && cp "$0" "$3/bin/pip" && basename "$0" > "$3/base" ;;
    *--version) echo "Python 3" ;;
    "pip list"*) printf 'keras==3\\nnumpy==2\\npandas==3\\n' ;;
    "pip install"*) echo "$*" >> "$(dirname "$0")/../asked" ;;
    *"-m pytest"*) echo "=== ${COUNTS:-7 passed} in 1s ==="; [ -z "$COUNTS" ] ;;
esac
"""


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_the_pages_name_the_oldest(page: str) -> None:
    named = re.findall(r"\b(Python|TensorFlow|Keras) (\d+\.\d+)", (ROOT / page).read_text())
    assert {(name.lower(), version) for name, version in named} == set(OLDEST.items())


def test_the_linter_knows_the_oldest_python() -> None:
    python = OLDEST["python"].replace(".", "")
    assert f'target-version = "py{python}"' in (ROOT / "pyproject.toml").read_text()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of what the script needs, and Pythons."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "versions", tmp_path / ".ci")
    shutil.copy(ROOT / "setup.cfg", tmp_path)
    for version in {OLDEST["python"], "3.10", "3.12", "3.13"}:
        write(tmp_path / "bin" / f"python{version}", PYTHON)
    return tmp_path


def write(path: Path, program: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(program)
    path.chmod(0o755)


def run(folder: Path, *names: str, **settings: str) -> tuple[int, list[str]]:
    """The exit status, and the lines."""
    environment = {**os.environ, **settings, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        [folder / ".ci" / "versions", *names], env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout.splitlines()


def test_each_environment_has_its_versions(folder: Path) -> None:
    status, lines = run(folder)
    assert status == 0
    names = ["oldest", "oldest-tensorflow", "3.10", "3.12", "3.13"]
    assert lines[-5:] == [f"{name}: 7 passed in 1s (Python 3 keras==3 numpy==2)" for name in names]
    bases = [(folder / f".venv-{name}" / "base").read_text().strip() for name in names]
    assert bases == [f"python{version}" for version in (OLDEST["python"], "3.12", "3.10", "3.12", "3.13")]
    older = [
        {
            pinned
            for pinned in (TENSORFLOW, KERAS)
            if pinned in (folder / f".venv-{name}" / "asked").read_text()
        }
        for name in names
    ]
    assert older == [{TENSORFLOW, KERAS}, {TENSORFLOW}, set(), set(), set()]


def test_one_that_fails_does_not_stop_the_others(folder: Path) -> None:
    write(folder / "bin" / "python3.12", "#!/usr/bin/env bash\nexit 1")
    status, lines = run(folder)
    assert status == 1
    assert [": 7 passed" in line for line in lines[-5:]] == [True, False, True, False, True]
    assert lines[-2] == "3.12: no tests were run; the reason is above ()"


def test_tests_that_fail_are_counted(folder: Path) -> None:
    status, lines = run(folder, "oldest", COUNTS="1 failed, 6 passed")
    assert status == 1
    assert lines[-1].startswith("oldest: 1 failed, 6 passed in 1s (")
    assert not (folder / ".venv-3.10").exists()
