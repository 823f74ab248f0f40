"""Files of theories that were bent, by someone who means harm or by a broken disk."""

import io
import json
import math
import random
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import keras
import numpy as np

import ltn

CONFIG, WEIGHTS = "config.json", "model.weights.h5"
# What takes the place of a part of the configuration; `GONE` for nothing at all.
GONE = object()
VALUES: tuple[Any, ...] = (
    None,
    -1,
    10**12,
    1e308,
    math.nan,
    "x",
    "",
    [],
    {},
    True,
    [1, "a"],
    {"a": 1},
    0.5,
    GONE,
)

Parts = dict[str, bytes]


def theory() -> ltn.Theory:
    """A small theory with one of each kind of declaration."""
    made = ltn.Theory(name="small", regularizer=keras.regularizers.L2(0.01), chunk=4)
    people = made.domain("people", shape=2, bounds=(-1, 2))
    towns = made.domain("towns", values=["Rome", "Seoul"])
    ages = made.domain("ages", equality="smooth", alpha=0.5)
    made.constants("a, b", people)
    made.variable("x", people)
    made.variable("u", towns)
    made.variable("given", people, [[0.5, 0.5]])
    made.variable("chosen", people, ["b"])
    made.variable("both", people * ages)
    made.predicate("P", people, ltn.Predicate.MLP([2], (2,)))
    made.predicate("Q", people, made.symbols["P"].network)
    classifier = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2)])
    made.predicate("lives_in", (people, towns), ltn.Predicate.FromLogits(classifier, "softmax"))
    for name, head in ltn.Predicate.heads(classifier, ["even", "odd"]).items():
        made.predicate(name, people, head)
    made.function("age", people, ages, keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)]))
    made.proposition("A", 0.25)
    made.proposition("B", 0.5, trainable=True)
    made.axioms("""
        first: A | B
        second [weight=2]: forall x: P(x) -> lives_in(x, Rome)
        third: exists x: Q(x) & ~P(a) | even(b)
    """)
    made.axiom("forall x: exists u: lives_in(x, u)", "fourth", weight="learned")
    made.relation("near", (towns, people), [("Rome", "a"), ("Seoul", "b")])
    made.axiom("forall u, x where near(u, x): lives_in(x, u)", "fifth")
    made.set_hyperparameters(p_exists=3.0)
    made.set_hyperparameters("second", p_forall=2.0)
    return made


def read(path: Path) -> Parts:
    """The members of a file."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path: Path, parts: Parts, compressed: bool = False) -> None:
    """A file of these members."""
    kind = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", kind) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def with_config(parts: Parts, bend: Callable[[dict[str, Any]], Any]) -> Parts:
    """The members, with a configuration that a function has changed."""
    whole = json.loads(parts[CONFIG])
    bend(whole["config"])
    return parts | {CONFIG: json.dumps(whole).encode()}


def with_weights(parts: Parts, bend: Callable[[h5py.File], Any]) -> Parts:
    """The members, with weights that a function has changed."""
    content = io.BytesIO(parts[WEIGHTS])
    with h5py.File(content, "r+") as file:
        bend(file)
    return parts | {WEIGHTS: content.getvalue()}


def paths(config: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a configuration: the names and numbers that lead there."""
    if before:
        yield before
    inside = config if isinstance(config, dict) else range(len(config)) if isinstance(config, list) else ()
    for key in inside:
        yield from paths(config[key], (*before, key))


def put(config: Any, path: tuple[Any, ...], value: Any) -> None:
    """Put a value in a place of a configuration."""
    for key in path[:-1]:
        config = config[key]
    if value is GONE:
        del config[path[-1]]
    else:
        config[path[-1]] = value


def bent_configurations(parts: Parts, count: int) -> Iterator[tuple[tuple[Any, ...], Any, Parts]]:
    """The members with one thing changed in the configuration, drawn at random; its place and its value."""
    draw = random.Random(0)
    places = list(paths(json.loads(parts[CONFIG])["config"]))
    for _ in range(count):
        path, value = draw.choice(places), draw.choice(VALUES)
        yield path, value, with_config(parts, partial(put, path=path, value=value))


def bent_bytes(content: bytes, count: int) -> Iterator[bytes]:
    """A file that was cut off, and one of whose bits was flipped."""
    draw = random.Random(0)
    yield from (
        content[:size] for size in (0, 1, 100, len(content) // 2, len(content) - 22, len(content) - 1)
    )
    for _ in range(count):
        bent = bytearray(content)
        bent[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        yield bytes(bent)


def table_of_individuals(file: h5py.File) -> str:
    """Where the weights of the constants stand."""
    found: list[str] = []
    file.visititems(lambda name, part: found.append(name) if isinstance(part, h5py.Dataset) else None)
    return next(name for name in found if name.startswith("individuals"))


def replace_table(file: h5py.File, put_there: Callable[[str], Any]) -> None:
    """Put something else in the place of the constants."""
    name = table_of_individuals(file)
    del file[name]
    put_there(name)


# Each way to bend the weights, and what is said of it.
WEIGHTS_BENT: dict[str, tuple[Callable[[h5py.File], Any], str]] = {
    "bomb": (
        lambda file: replace_table(
            file,
            lambda name: file.create_dataset(
                name, (10**6, 10**3), "f4", chunks=(1000, 1000), compression="gzip"
            ),
        ),
        r"its weights unpack to 4,000,\d+,\d+ bytes",
    ),
    "external link": (
        lambda file: replace_table(
            file, lambda name: file.__setitem__(name, h5py.ExternalLink("/etc/hosts", "/x"))
        ),
        "its weights are links",
    ),
    "soft link": (
        lambda file: replace_table(file, lambda name: file.__setitem__(name, h5py.SoftLink("/loop"))),
        "its weights are links",
    ),
    "another file": (
        lambda file: replace_table(
            file, lambda name: file.create_dataset(name, (2, 2), "f4", external=[("/etc/hosts", 0, 16)])
        ),
        "its weights are read from another file",
    ),
    "gone": (lambda file: replace_table(file, lambda name: None), "could not be loaded"),
    "another shape": (
        lambda file: replace_table(file, lambda name: file.__setitem__(name, np.zeros((2, 3), np.float32))),
        "could not be loaded",
    ),
    "not a number": (
        lambda file: file[table_of_individuals(file)].__setitem__(..., np.nan),
        "individuals a, b must be finite",
    ),
    "outside the bounds": (
        lambda file: file[table_of_individuals(file)].__setitem__(..., 7.0),
        "inside the bounds of their domain 'people'",
    ),
}


def layer(config: dict[str, Any], name: str) -> dict[str, Any]:
    """The configuration of the Dense layer of a symbol's network."""
    [symbol] = [part for part in config["declarations"] if part["name"] == name]
    return symbol["grounding"]["network"]["config"]["layers"][1]["config"]
