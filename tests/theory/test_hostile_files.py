"""Files that were not written by `save`: refused with the reason, before they take memory or do harm."""

import json
import re
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import ltn
from tests import faults
from tests.theory import bent_files
from tests.theory.bent_files import CONFIG, WEIGHTS, Parts, layer, put
from tests.theory.theories import knowledge, network

pytestmark = pytest.mark.filterwarnings(
    "ignore:__array__ implementation:DeprecationWarning"
)  # Keras, on NumPy 2

# What a refused file may add to the memory of the process, in kB: what it hides would take gigabytes.
ROOM = 200_000


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "theory.keras"
    bent_files.theory().save(path)
    return path


@pytest.fixture(scope="module")
def parts(whole: Path) -> Parts:
    return bent_files.read(whole)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "bent.keras"


def refusal(file: Path) -> str:
    """What is said of a file, which must name it, and be short."""
    with pytest.raises(ltn.LogicFileError, match=re.escape(f"{file}: ")) as caught:
        ltn.load(file)
    assert len(str(caught.value)) < 1000
    return str(caught.value)


def loaded(file: Path) -> ltn.Theory | None:
    """The theory of a file; None where it is refused, by an error of ours that names it."""
    try:
        return ltn.load(file)
    except ltn.LogicFileError as error:
        named = str(error).startswith(f"{file}: ")
    assert named
    return None


def test_the_file_itself_loads(whole: Path, parts: Parts, file: Path) -> None:
    bent_files.write(file, parts)
    assert ltn.load(file).report().equals(ltn.load(whole).report())


def test_bent_configurations_are_refused_or_give_a_theory_that_works(parts: Parts, file: Path) -> None:
    outcomes = set()
    for path, value, bent in bent_files.bent_configurations(parts, 40):
        bent_files.write(file, bent)
        theory = loaded(file)
        assert theory is None or np.isfinite(theory.report().satisfaction).all(), (path, value)
        outcomes.add(theory is None)
    assert outcomes == {True, False}


def test_bent_bytes_are_refused_or_give_the_same_theory(whole: Path, parts: Parts, file: Path) -> None:
    refused = 0
    expected = ltn.load(whole).report()
    for content in bent_files.bent_bytes(whole.read_bytes(), 24):
        file.write_bytes(content)
        theory = loaded(file)
        # A bit of the date, say, changes nothing.
        assert theory is None or theory.report().equals(expected)
        refused += theory is None
    assert refused > 20


# A place in the configuration, what is put there, and what is said of it.
MISFITS: list[tuple[tuple[Any, ...], Any, str]] = [
    (("axioms", 0, "formula"), "A |", "Axiom 'first': .*the end of the formula"),
    (("axioms", 0, "formula"), "C", "Axiom 'first': There is no .*'C'"),
    (("axioms", 1, "formula"), "P(x)", "Axiom 'second': .*free variable x"),
    (("axioms", 1, "formula"), "P(Rome)", "must be of the domain 'people'"),
    (("axioms", 1, "formula"), "forall[p=0.5] x: P(x)", "`p` must be a finite number of at least 1"),
    (("axioms", 1, "name"), "first", "already an axiom 'first'"),
    (("axioms", 1, "name"), "loss", "'loss' names another value"),
    (("axioms", 1, "weight"), -1.0, "at least 0 in the axiom 'second'"),
    (("axioms", 1, "weight"), float("inf"), "at least 0 .*got inf"),
    (("axioms", 3, "weight"), "B", "must be its own proposition"),
    (("axioms", 3, "active"), 1, "true or false"),
    (("hyperparameters", "changed"), {"p_exists": 0.5}, "`p` must be a finite number of at least 1"),
    (("hyperparameters", "changed"), {"q": 2.0}, "no hyper-parameter `q`"),
    (("hyperparameters", "changed"), {"p_exists": "2"}, "must be a number"),
    (("hyperparameters", "of_axioms"), {"none": {"p_forall": 2.0}}, "no axiom 'none'"),
    (("hyperparameters", "of_axioms"), {"first": {"p_forall": 2.0}}, "no quantifier"),
    (("hyperparameters", "semantics", "operators", "And"), {"class_name": "exec"}, "no operator 'exec'"),
    (("hyperparameters", "semantics", "operators", "And", "config", "stable"), [], "`stable` of And_Prod"),
    (("signature", "domains", 0, "shape"), [-1], "at least 1"),
    (("signature", "domains", 1, "features", 0), [float("nan")], "finite"),
    (("signature", "domains", 1, "names"), ["Rome"], "a name for each individual"),
    (("signature", "domains", 1, "name"), "people", "already a domain 'people'"),
    (("signature", "constants", "c"), "towns", "must be its individuals.*c"),
    (("signature", "constants", "c"), "people", "Each of the constants needs one grounding.*c"),
    (("signature", "variables", "y"), "elsewhere", "no domain 'elsewhere'"),
    (("signature", "variables", "P"), "people", "it is already a variable of the domain 'people'"),
    (("signature", "predicates", "R"), ["people"], "predicates and functions needs one grounding.*R"),
    (("signature", "predicates", "P"), ["ages"], "argument 1 must have the feature shape"),
    (("signature", "functions", "age", "output"), "people", "must return features of the domain 'people'"),
    (("signature", "propositions"), ["A"], "propositions needs one grounding.*B"),
    (("signature", "predicates", "near"), ["people"], r"takes 1 argument, near\(people\); got 2"),
    (("relations",), [], "predicates and functions needs one grounding.*near"),
    (("relations",), ["P"], "The relation 'P' must be a predicate, and have no network"),
    (("relations",), {"near": [[0, 0]]}, "must be a list"),
    (("choices", "given", "features"), [[5.0, 5.0]], "'given' leave the bounds"),
    (("choices", "given", "features"), [[0.5]], "cannot reshape"),
    (("choices", "chosen", "names"), ["Rome"], "not a constant of the domain 'people'"),
    (("choices", "z"), {"names": ["a"], "features": None}, "'z', which is no variable"),
    (("declarations", 0, "grounding", "names"), ["a", "Rome"], "constants of one domain"),
    (("declarations", 0, "kind"), "lambda", "must be one of: individuals"),
]


@pytest.mark.parametrize(("path", "value", "said"), MISFITS, ids=lambda value: str(value)[:40])
def test_what_does_not_fit_together_is_refused(
    path: tuple[Any, ...], value: Any, said: str, parts: Parts, file: Path
) -> None:
    bent_files.write(file, bent_files.with_config(parts, lambda config: put(config, path, value)))
    assert re.search(said, refusal(file), re.DOTALL)


def test_keras_refuses_it_too(parts: Parts, file: Path) -> None:
    path, value, said = MISFITS[0]
    bent_files.write(file, bent_files.with_config(parts, lambda config: put(config, path, value)))
    with pytest.raises(ltn.LogicError, match=said):
        keras.models.load_model(file)


def json_bomb(parts: Parts) -> Parts:
    return parts | {CONFIG: b'{"a": [' + b"[]," * 10**7 + b"[]]}"}


SIZES: dict[str, tuple[Callable[[Parts], Parts], str]] = {
    "JSON": (json_bomb, r"unpacks to 30,\d+,\d+"),
    "nested JSON": (lambda parts: parts | {CONFIG: b"[" * 10**5}, "RecursionError"),
    "zeros": (lambda parts: parts | {WEIGHTS: bytes(10**8)}, r"unpacks to 100,\d+,\d+"),
    "constants": (
        lambda parts: bent_files.with_config(
            parts, lambda config: put(config, ("signature", "domains", 0, "shape"), [25 * 10**7])
        ),
        r"asks for take up 2,\d+,\d+,\d+ bytes",
    ),
    "units": (
        lambda parts: bent_files.with_config(
            parts, lambda config: layer(config, "lives_in").update(units=10**9)
        ),
        r"asks for take up 12,\d+,\d+,\d+ bytes",
    ),
}


@pytest.mark.parametrize("kind", SIZES)
def test_a_small_file_takes_little_memory(kind: str, parts: Parts, file: Path) -> None:
    bend, said = SIZES[kind]
    bent_files.write(file, bend(parts), compressed=True)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert re.search(said, refusal(file))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < ROOM


@pytest.mark.parametrize("kind", bent_files.WEIGHTS_BENT)
def test_bent_weights_are_refused(kind: str, parts: Parts, file: Path) -> None:
    bend, said = bent_files.WEIGHTS_BENT[kind]
    bent_files.write(file, bent_files.with_weights(parts, bend))
    assert re.search(said, refusal(file))


MEMBERS: dict[str, tuple[Callable[[Parts], Parts], str]] = {
    "no configuration": (lambda parts: {WEIGHTS: parts[WEIGHTS]}, f"must hold {CONFIG}"),
    "no weights": (lambda parts: {CONFIG: parts[CONFIG]}, f"must hold {CONFIG} and {WEIGHTS}"),
    "no JSON": (lambda parts: parts | {CONFIG: b"\xff"}, "cannot be read"),
    "a list": (lambda parts: parts | {CONFIG: b"[]"}, "must be a dictionary"),
    "no HDF5": (lambda parts: parts | {WEIGHTS: b"garbage"}, "cannot be read"),
    "a path outside": (lambda parts: parts | {"../outside.txt": b""}, "'../outside.txt', which lies outside"),
}


@pytest.mark.parametrize("kind", MEMBERS)
def test_members_that_are_missing_or_of_another_kind(kind: str, parts: Parts, file: Path) -> None:
    bend, said = MEMBERS[kind]
    bent_files.write(file, bend(parts))
    assert said in refusal(file)
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_class_that_is_not_registered(parts: Parts, file: Path) -> None:
    whole = json.loads(parts[CONFIG]) | {"class_name": "Own", "module": "own", "registered_name": "own>Own"}
    bent_files.write(file, parts | {CONFIG: json.dumps(whole).encode()})
    assert "it holds a Own, which is not known: decorate the class" in refusal(file)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"weight": {}}, "weight` must be"),
        ({"inputs": 3}, "inputs` must be text"),
        ({"theory": 0}, "theory` must"),
    ],
)
def test_a_model_with_knowledge(change: dict[str, Any], said: str, file: Path) -> None:
    task = network()
    ltn.with_knowledge(task, knowledge(task)).save(file)
    bent_files.write(
        file, bent_files.with_config(bent_files.read(file), lambda config: config.update(change))
    )
    with pytest.raises(ltn.LogicError, match=said):
        keras.models.load_model(file)


@pytest.mark.parametrize("code", ["exec", "get_file", "__lambda__"])
def test_code_is_not_called(code: str, parts: Parts, file: Path) -> None:
    network = {"class_name": code, "module": "keras.utils", "config": {"value": "x"}, "registered_name": None}
    bend = bent_files.with_config(
        parts, lambda config: put(config, ("declarations", 1, "grounding", "network"), network)
    )
    bent_files.write(file, bend)
    assert refusal(file)


class TestFilesThatCannotBeRead:
    def test_one_that_is_missing(self, file: Path) -> None:
        assert refusal(file).endswith("there is no such file.")

    def test_one_without_the_right_to_read_it_is_not_missing(self, whole: Path) -> None:
        with faults.closed_folder(whole, rights=0) as copy:
            assert "cannot be read: Permission denied" in refusal(copy)

    def test_a_folder(self, file: Path) -> None:
        file.mkdir()
        assert "Is a directory" in refusal(file)

    def test_one_of_another_name(self, file: Path) -> None:
        file.with_suffix(".txt").write_text("A | B")
        assert "ends with .keras" in refusal(file.with_suffix(".txt"))

    def test_what_is_no_path(self) -> None:
        with pytest.raises(ltn.LogicTypeError, match="by its path"):
            ltn.load(json)
