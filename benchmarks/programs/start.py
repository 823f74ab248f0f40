"""Start-up: a step is a fresh process that imports a module. It needs nothing but Python."""

import subprocess
import sys

from benchmarks.worker import Step


def importing(module: str) -> Step:
    """Import a module from where this process would."""
    command = [sys.executable, "-I", "-c", f"import sys; sys.path[:] = {sys.path}; import {module}"]
    return lambda: subprocess.run(command, check=True, capture_output=True).returncode
