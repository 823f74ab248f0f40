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
from importlib.util import resolve_name
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
    ltn.repair,
    ltn.semantics,
    ltn.utils,
    importlib.import_module("ltn.errors"),
]

# Loops in the Python of the pages, which say nothing else if they are shorter.
SHORTER = {"range(100)": "range(10)", "epochs=1000": "epochs=100", "{0: 1, 200: 6}": "{0: 1, 20: 6}"}
# Lowest first: a layer imports only from those before it.
LAYERS = [
    "errors",
    "_private",
    "checks",
    "files",
    "markup",
    "fuzzy_ops",
    "language",
    "core",
    "semantics",
    "utils",
    "evaluation",
    "knowledge",
    "training",
    "reasoning",
    "repair",
    "theory",
    "callbacks",
    "plot",
]
# Concrete classes that derive from concrete classes of ours, each pair with its reason.
DERIVED = {
    ("errors.LogicTypeError", "errors.LogicError"): "users catch the root",
    ("errors.LogicValueError", "errors.LogicError"): "users catch the root",
    ("errors.LogicFileError", "errors.LogicValueError"): "a path is an argument with an impossible value",
    ("errors.NotFiniteError", "errors.LogicValueError"): "the training that skips NaN tells it from others",
    (
        "evaluation.joins.TooManyTuplesError",
        "errors.LogicValueError",
    ): "samples and chunks do without the tuples, and tell it from others",
    ("core.expressions.Term", "core.expressions.Expression"): "the API: an Expression can be made",
    ("core.expressions.Formula", "core.expressions.Expression"): "the API: an Expression can be made",
    ("core.variables.Variable", "core.expressions.Term"): "the API: a function gives a plain Term",
    ("core.parameters.Constant", "core.expressions.Term"): "the API: a function gives a plain Term",
    ("core.parameters.Proposition", "core.expressions.Formula"): "the API: a predicate gives a Formula",
    ("utils.LogitsToPredicateModel", "core.models.LogitsModel"): "the API: a deprecated name",
    ("evaluation.individuals.Individual", "core.expressions.Term"): "it reads its row late",
    ("evaluation.groundings.DeclaredVariable", "core.variables.Variable"): "it reads its data late",
}


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
    without = {"Aggregator", "Connective", "Count"}
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


def imports() -> dict[str, set[str]]:
    """The modules that each module imports, anywhere: at the top, inside functions, under TYPE_CHECKING."""
    modules = {_module(path): path for path in PACKAGE.rglob("*.py")}
    found: dict[str, set[str]] = {}
    for module, path in modules.items():
        named: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                named.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                package = module if path.name == "__init__.py" else module.rpartition(".")[0]
                base = resolve_name("." * node.level + (node.module or ""), package)
                # `from a import b` imports the module a.b where there is one.
                members = (f"{base}.{alias.name}" for alias in node.names)
                named.update(member if member in modules else base for member in members)
        found[module] = named & modules.keys() - {module}
    return found


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def knots(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """The sets of nodes that reach each other, of more than one node."""
    reached = {node: set(targets) for node, targets in graph.items()}
    for through in graph:
        for targets in reached.values():
            if through in targets:
                targets |= reached[through]
    together = {
        node: frozenset({node, *(other for other in reached[node] if node in reached[other])})
        for node in graph
    }
    return {knot for knot in together.values() if len(knot) > 1}


def test_layers_import_downward_only() -> None:
    upward = set()
    for module, imported in imports().items():
        if module == "ltn":
            continue
        layer = module.split(".")[1]
        for target in imported:
            assert target != "ltn", f"{module} imports the whole package"
            if LAYERS.index(target.split(".")[1]) > LAYERS.index(layer):
                upward.add((layer, target.split(".")[1]))
    assert not upward


def test_modules_do_not_import_each_other() -> None:
    packages = {_module(path) for path in PACKAGE.rglob("__init__.py")}
    graph = {module: found - packages for module, found in imports().items() if module not in packages}
    assert not knots(graph)


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"a"}, "c": {"a"}}, ["ab"]),
        ({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}}, ["abc", "de"]),
    ],
)
def test_knots_are_found(graph: dict[str, set[str]], expected: list[str]) -> None:
    assert knots(graph) == {frozenset(knot) for knot in expected}


def test_a_class_is_abstract_or_final() -> None:
    classes = {
        member
        for name in MODULES
        for member in vars(importlib.import_module(name)).values()
        if inspect.isclass(member) and _is_ours(member) and not getattr(member, "_is_protocol", False)
    }
    derived = {
        (_name(kind), _name(base))
        for kind in classes
        for base in kind.__bases__
        if _is_ours(base) and not inspect.isabstract(base) and not inspect.isabstract(kind)
    }
    assert derived == set(DERIVED)


def _is_ours(kind: type) -> bool:
    return kind.__module__.split(".")[0] == "ltn"


def _name(kind: type) -> str:
    return f"{kind.__module__.removeprefix('ltn.')}.{kind.__qualname__}"


def test_files_stay_small() -> None:
    sizes = {
        str(path.relative_to(PACKAGE)): len(path.read_text().splitlines()) for path in PACKAGE.rglob("*.py")
    }
    assert max(sizes.values()) <= 400, sizes


def test_importing_prints_nothing_and_computes_nothing() -> None:
    program = (
        "import sys\n"
        "import tensorflow as tf\n"
        "print('TensorFlow is there', file=sys.stderr)\n"
        "import ltn\n"
        "from tensorflow.python.eager import context\n"
        "assert not context.context()._initialized, 'a computation was started'\n"
    )
    environment = {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(ROOT), "PATH": ""}
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == ""
    # TensorFlow's own start-up lines may stand before that; ours may not follow.
    assert run.stderr.endswith("TensorFlow is there\n"), run.stderr


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # Keras, on NumPy 2
def test_the_python_of_the_pages_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pages = (ROOT / name for name in ("README.md", "SCALING.md"))
    text = "\n".join(page.read_text() for page in pages)
    for long, short in SHORTER.items():
        assert long in text
        text = text.replace(long, short)
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    for number, block in enumerate(blocks):
        # A file, since tf.function reads the source of what it compiles.
        path = tmp_path / f"block{number}.py"
        path.write_text(block)
        runpy.run_path(str(path))


def test_the_tests_that_the_page_of_promises_names_exist() -> None:
    named = re.findall(r"`(tests/[^`]+)`", (ROOT / "RELIABILITY.md").read_text())
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_the_commands_of_the_pages_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in ("README.md", "CONTRIBUTING.md"):
        commands = set(re.findall(r"\bmake ([a-z-]+)", (ROOT / page).read_text()))
        assert {"reproduce", "test", "lint"} <= commands <= targets


def test_the_files_that_contributors_are_told_of_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = re.findall(r"`((?:ltn|tests)/[\w/.]+)`", text)
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).exists()] == []
    rooms = re.findall(r"^\| (`.*?) \|", text[text.index("| room") :].split("\n\n")[0], re.MULTILINE)
    assert [room for row in rooms for room in re.findall(r"`(\w+)`", row)] == LAYERS


def test_the_metadata() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    assert config["metadata"]["name"] == "ltn-keras"
    assert set(config["options.extras_require"]) == {"examples", "notebooks", "repair", "dev", "mutants"}
    assert (PACKAGE / "py.typed").exists()
