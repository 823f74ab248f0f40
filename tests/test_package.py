"""The package as a whole: its public face, its layers, its examples, and what importing it does."""

import ast
import configparser
import doctest
import importlib
import inspect
import pkgutil
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import ltn
from examples import harness

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "ltn"
MODULES = [
    *(ltn.__name__, *(info.name for info in pkgutil.walk_packages(ltn.__path__, "ltn."))),
    *(info.name for info in pkgutil.walk_packages(harness.__path__, "examples.harness.")),
]
PUBLIC_MODULES = [
    ltn,
    ltn.callbacks,
    ltn.core,
    ltn.fuzzy_ops,
    ltn.language,
    ltn.plot,
    ltn.reasoning,
    ltn.semantics,
    ltn.utils,
    importlib.import_module("ltn.errors"),
]

# Lowest first: a layer imports only from those before it.
LAYERS = [
    "errors",
    "_autograph",
    "_private",
    "fuzzy_ops",
    "semantics",
    "core",
    "utils",
    "language",
    "evaluation",
    "knowledge",
    "training",
    "reasoning",
    "theory",
    "callbacks",
    "plot",
]
# Formulas combine under the semantics in force, so `core` needs `semantics`; `Semantics.wrap` hands out the
# wrappers of `core`, imported when it is called.
UPWARD = {("semantics", "core")}


@pytest.mark.parametrize("module", PUBLIC_MODULES, ids=lambda module: module.__name__)
def test_the_public_face_is_explicit_sorted_and_documented(module: ModuleType) -> None:
    assert module.__all__ == sorted(module.__all__)
    for name in module.__all__:
        member = getattr(module, name)
        assert not name.startswith("_")
        if not isinstance(member, float):
            assert inspect.getdoc(member), f"{module.__name__}.{name} has no docstring"


def test_every_public_name_has_a_running_example() -> None:
    # Contracts for subclasses: their examples are those of the subclasses.
    without = {"Aggregator", "Connective"}
    for module in PUBLIC_MODULES:
        for name in module.__all__:
            member = getattr(module, name)
            if inspect.isclass(member) or inspect.isfunction(member):
                assert name in without or ">>>" in (member.__doc__ or ""), f"{name} has no example"


def test_core_holds_the_names_of_the_contract() -> None:
    contract = """Expression Term Formula Variable Constant Proposition as_tensors Predicate Function
        broadcast_exprs transpose_free_vars broadcast_wff_and_mask Wrapper_Connective Wrapper_Quantifier
        Wrapper_Formula_Aggregator diag undiag diag_lock"""
    for name in contract.split():
        assert getattr(ltn, name) is getattr(ltn.core, name)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


def test_layers_import_downward_only() -> None:
    upward = set()
    for path in PACKAGE.rglob("*.py"):
        layer = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if layer == "__init__":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "ltn":
                parts = (node.module or "").split(".")
                for imported in [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]:
                    if LAYERS.index(imported) > LAYERS.index(layer):
                        upward.add((layer, imported))
    assert upward == UPWARD


def test_files_stay_small() -> None:
    sizes = {
        str(path.relative_to(PACKAGE)): len(path.read_text().splitlines()) for path in PACKAGE.rglob("*.py")
    }
    assert max(sizes.values()) <= 400, sizes


def test_importing_prints_nothing_and_computes_nothing() -> None:
    program = (
        "import tensorflow as tf\n"
        "import ltn\n"
        "from tensorflow.python.eager import context\n"
        "assert not context.context()._initialized, 'a computation was started'\n"
    )
    environment = {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(ROOT), "PATH": ""}
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], env=environment, capture_output=True, text=True
    )
    quiet = subprocess.run(
        [sys.executable, "-c", "import tensorflow"], env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == ""
    # TensorFlow's own start-up lines may stand there; ours may not add to them.
    assert len(run.stderr.splitlines()) <= len(quiet.stderr.splitlines()), run.stderr


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # Keras, on NumPy 2
def test_the_python_of_the_pages_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pages = (ROOT / name for name in ("README.md", "SCALING.md"))
    blocks = [b for page in pages for b in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)]
    assert blocks
    for number, block in enumerate(blocks):
        # A file, since tf.function reads the source of what it compiles.
        path = tmp_path / f"block{number}.py"
        path.write_text(block)
        runpy.run_path(str(path))


def test_the_readmes_commands_exist() -> None:
    commands = set(re.findall(r"\bmake ([a-z-]+)", (ROOT / "README.md").read_text()))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"reproduce", "test", "lint"} <= commands <= targets


def test_the_metadata() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    assert config["metadata"]["name"] == "ltn-keras"
    assert config["options"]["python_requires"] == ">=3.10"
    assert {"tensorflow>=2.16", "keras>=3.8"} <= set(config["options"]["install_requires"].split())
    assert set(config["options.extras_require"]) == {"examples", "notebooks", "dev"}
    assert (PACKAGE / "py.typed").exists()
