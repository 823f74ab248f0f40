"""Knowledge graphs: their triples, and rules that are found by counting.

The folder `kg/NAME` of the folder of data that the environment variable LTN_DATA names holds `train.txt.gz`,
`valid.txt.gz` and `test.txt.gz`, one `head TAB relation TAB tail` in each line. Where it is missing, a graph
of the same size is drawn in its place.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

# Entities, relations and triples of training of the published graphs.
SIZES = {"umls": (135, 46, 5216), "kinship": (104, 25, 8544)}
PARTS = ("train", "valid", "test")
# A rule counts as many failures more than it has, so that one that was seen twice is not trusted.
FAILURES = 5
# Less confident ones are not rules.
LEAST = 0.5


class Graph(NamedTuple):
    """Entities and relations by name, and three parts of triples, (m, 3), by index: head, relation, tail."""

    entities: list[str]
    relations: list[str]
    parts: dict[str, np.ndarray]

    @property
    def train(self) -> np.ndarray:
        """The triples that are known."""
        return self.parts["train"]


class Step(NamedTuple):
    """From an entity to another one, along a relation or against it."""

    relation: str
    backwards: bool

    def __str__(self) -> str:
        return f"{'against' if self.backwards else 'along'} {self.relation}"

    def atom(self, start: str, end: str) -> str:
        """The step as a formula."""
        first, second = (end, start) if self.backwards else (start, end)
        return f"known({first}, '{self.relation}', {second})"


class Rule(NamedTuple):
    """Where one or two steps lead from x to z, a relation holds; in a share of these places it is known."""

    body: tuple[Step, ...]
    head: str
    confidence: float

    def __str__(self) -> str:
        names = "xyz" if len(self.body) == 2 else "xz"
        steps = [step.atom(*names[place : place + 2]) for place, step in enumerate(self.body)]
        unknown = f"~known(x, '{self.head}', z)"
        return f"forall {', '.join(names)} where {' & '.join([*steps, unknown])}: holds(x, '{self.head}', z)"


def graph(name: str) -> Graph:
    """A graph of `SIZES`: the published one if its data are there, else a drawn one."""
    return read(name) if folder_of(name) is not None else drawn(*SIZES[name])


def folder_of(name: str) -> Path | None:
    """The folder that holds a published graph; None where there is none."""
    given = os.environ.get("LTN_DATA")
    folder = None if given is None else Path(given) / "kg" / name
    return folder if folder is not None and folder.is_dir() else None


def read(name: str) -> Graph:
    """A published graph."""
    folder = folder_of(name)
    if folder is None:
        raise SystemExit(f"There is no folder kg/{name} in the folder that LTN_DATA names.")
    columns = ["head", "relation", "tail"]
    frames = {
        part: pd.read_csv(
            folder / f"{part}.txt.gz", sep="\t", names=columns, dtype=str, keep_default_na=False
        )
        for part in PARTS
    }
    rows = pd.concat(frames.values())
    entities = np.unique(np.concatenate([rows["head"], rows["tail"]]))
    relations = np.unique(rows["relation"])
    parts = {}
    for part, frame in frames.items():
        kinds = (entities, relations, entities)
        places = [np.searchsorted(kind, frame[column]) for kind, column in zip(kinds, columns, strict=True)]
        parts[part] = np.stack(places, axis=1).astype(np.int32)
    return Graph(list(entities), list(relations), parts)


def drawn(entities: int, relations: int, triples: int) -> Graph:
    """A graph whose relations are steps around a circle: one is the sum of two that follow each other."""
    rng, held_out = np.random.default_rng(0), triples // 8
    count, pairs = triples + 2 * held_out, entities * relations
    # The shortest steps of all relations come first: what follows from two of them is there too.
    spread, pair = np.divmod(np.arange(-(-count // pairs) * pairs), pairs)
    pair[-pairs:] = rng.permutation(pairs)
    heads, kinds = np.divmod(pair, relations)
    tails = (heads + entities // relations * kinds + spread) % entities
    rows = np.stack([heads, kinds, tails], axis=1)[:count].astype(np.int32)
    parts = np.split(rng.permutation(rows), [triples, triples + held_out])
    names = [f"r{number}" for number in range(relations)]
    return Graph([f"e{number}" for number in range(entities)], names, dict(zip(PARTS, parts, strict=True)))


def rules(known: Graph, count: int) -> list[Rule]:
    """The most confident rules, counted on the part for training.

    Of the pairs (x, z) that the body of a rule joins, its confidence is the share of which the head is known.

    Args:
        known: the graph.
        count: how many, at most.
    """
    size, kinds = len(known.entities), len(known.relations)
    links = np.zeros((kinds, size, size), np.float32)
    links[known.train[:, 1], known.train[:, 0], known.train[:, 2]] = 1.0
    steps = [Step(name, backwards) for name in known.relations for backwards in (False, True)]
    ways = np.stack([links, links.transpose(0, 2, 1)], axis=1).reshape(-1, size, size)
    heads, found = links.reshape(kinds, -1).T, []

    def add(bodies: list[tuple[Step, ...]], joined: np.ndarray) -> None:
        """Count what bodies join, (bodies, size, size), and how much of it each relation has."""
        pairs = (joined > 0).reshape(len(bodies), -1).astype(np.float32)
        right, totals = pairs @ heads, pairs.sum(axis=1)
        for place, head in np.argwhere((right >= LEAST * (totals + FAILURES)[:, np.newaxis]) & (right > 0)):
            confidence = right[place, head] / (totals[place] + FAILURES)
            rule = Rule(bodies[place], known.relations[head], float(confidence))
            if rule.body != (Step(rule.head, False),):
                found.append(rule)

    add([(step,) for step in steps], ways)
    for first, way in zip(steps, ways, strict=True):
        reached = (way @ ways.transpose(1, 0, 2).reshape(size, -1)).reshape(size, -1, size)
        add([(first, second) for second in steps], reached.transpose(1, 0, 2))
    return sorted(found, key=lambda rule: -rule.confidence)[:count]
