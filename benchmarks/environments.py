"""The virtual environments of other libraries, made on first use."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LTN21, LTNTORCH = "ltn 2.1", "LTNtorch"
FOLDER = Path(__file__).parents[1] / ".venv-peers"


@dataclass(frozen=True)
class Peer:
    """A library to be compared with: its packages, and the versions of Python that they are made for."""

    name: str
    folder: str
    requirements: tuple[str, ...]
    pythons: tuple[str, ...]


PEERS = (
    Peer(
        LTN21,
        "ltn21",
        ("ltn==2.1", "tensorflow==2.15.1", "keras==2.15.0", "numpy<2"),
        ("3.11", "3.10", "3.9"),
    ),
    Peer(
        LTNTORCH,
        "ltntorch",
        ("LTNtorch==1.0.2", "torch==2.13.0", "numpy"),
        ("3.11", "3.12", "3.13", "3.10"),
    ),
)


class PeerError(Exception):
    """An environment that cannot be had, and why."""


def interpreters(
    peers: Sequence[Peer] = PEERS, folder: Path = FOLDER
) -> tuple[dict[str, str], dict[str, str]]:
    """The interpreter of each environment that can be had, and why others are missing."""
    pythons, reasons = {}, {}
    for peer in peers:
        try:
            pythons[peer.name] = python_of(peer, folder)
        except PeerError as error:
            reasons[peer.name] = str(error)
    return pythons, reasons


def python_of(peer: Peer, folder: Path) -> str:
    """The interpreter of a peer's environment, which is made unless it is there."""
    environment, log = folder / peer.folder, folder / f"{peer.folder}.log"
    python, done = environment / "bin" / "python", environment / "installed"
    if done.is_file() and done.read_text() == "\n".join(peer.requirements):
        return str(python)
    base = base_python(peer.pythons)
    print(f"Making an environment for {peer.name} ...", file=sys.stderr)
    shutil.rmtree(environment, ignore_errors=True)
    folder.mkdir(exist_ok=True)
    with log.open("w") as output:
        for command in (
            [base, "-m", "venv", str(environment)],
            [str(python), "-m", "pip", "install", "--retries", "1", *peer.requirements],
        ):
            if subprocess.run(command, stdout=output, stderr=subprocess.STDOUT).returncode:
                raise PeerError(f"it could not be installed: see {folder.name}/{log.name}")
    done.write_text("\n".join(peer.requirements))
    return str(python)


def base_python(versions: Sequence[str]) -> str:
    """An interpreter of one of the versions: this one, or one that is installed beside it."""
    if f"{sys.version_info.major}.{sys.version_info.minor}" in versions:
        return sys.executable
    for name in (f"python{version}" for version in versions):
        # What is found may be a stub of a version manager, which has no such version.
        if shutil.which(name) and not subprocess.run([name, "-c", ""], capture_output=True).returncode:
            return name
    raise PeerError(f"it needs Python {' or '.join(versions)}, which was not found")


def versions(python: str, packages: Sequence[str]) -> dict[str, str]:
    """The versions of Python and of packages in an environment."""
    code = (
        "import json, platform, sys; from importlib.metadata import version; "
        "print(json.dumps({'Python': platform.python_version(), **{n: version(n) for n in sys.argv[1:]}}))"
    )
    done = subprocess.run([python, "-I", "-c", code, *packages], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
