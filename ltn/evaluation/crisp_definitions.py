"""Definitions in guards: there a formula with quantifiers is a relation, whose rows are joined once.

Under `define grandparent(x, z): exists y: parent(x, y) & parent(y, z)` the guard `grandparent(x, z)` selects
the distinct pairs x, z of the join of `parent(x, y) & parent(y, z)`. What stands below a quantifier is joined
first, and is then a relation of its free variables.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence

import numpy as np
import tensorflow as tf

from ltn.errors import LogicValueError
from ltn.evaluation import guards
from ltn.evaluation.guards import Guard
from ltn.evaluation.plan import Execution, World
from ltn.evaluation.planner import Planner, TuplesOf
from ltn.evaluation.relations import Relation, Rows, distinct_rows
from ltn.language import And, Apply, Domain, Name, Node, Not, Quantifier, negation_normal_form, parse
from ltn.language.names import FORALL
from ltn.language.tree import fold
from ltn.language.writing_out import CrispDefinition, with_children

# A definition, with the relation that it stands for among the rows that relations have now.
Known = MutableMapping[str, tuple[CrispDefinition, Relation]]


def with_relation(
    world: World,
    name: str,
    definition: CrispDefinition,
    planner_of: Callable[[World], Planner],
    known: Known,
) -> World:
    """The world in which a definition is a relation of this name.

    Args:
        world: has the variables that the definition binds, and the definitions that it uses.
        name: what it is called in guards.
        definition: with a crisp body.
        planner_of: gives a planner of a world.
        known: the relations that were found before.
    """
    signature = world.groundings.signature
    domains = tuple(signature.parameters(signature.definitions[definition.name]).values())
    for variable, declared in definition.copies.items():
        if (world.groundings.source(variable) or ("none", ""))[0] not in ("domain", "choice"):
            raise LogicValueError(
                f"In a guard the definition '{definition.name}' is a relation between known individuals; it "
                f"binds '{declared}', whose individuals come with data: bind a variable over known "
                "individuals, or move the definition out of the guard."
            )
    if name not in known or known[name][0] != definition:
        parameters = dict(zip(definition.parameters, domains, strict=True))
        groundings, relations = world.groundings.without_data(), dict(world.relations)
        planner = planner_of(
            world._replace(groundings=groundings.with_copies({}, parameters), relations=relations)
        )
        # Not in the graph of the training step that is being compiled.
        with tf.init_scope():
            found = _Joining(definition, planner, relations).rows()
        known[name] = definition, _relation(name, domains, found)
    groundings = world.groundings.with_copies({}, predicates={name: domains})
    return world._replace(groundings=groundings, relations={**world.relations, name: known[name][1]})


class _Joining:
    """How the rows of a definition are found, from the innermost quantifier on.

    Args:
        definition: the definition.
        planner: has its variables.
        relations: those that the planner knows.
    """

    def __init__(self, definition: CrispDefinition, planner: Planner, relations: dict[str, Relation]):
        self._definition = definition
        self._planner = planner
        self._relations = relations

    def rows(self) -> Rows:
        """The individuals for which the body holds, in the order of the parameters."""
        parameters = self._definition.parameters
        return self._select(
            fold(self._definition.body, self._put), [(name,) for name in parameters], parameters
        )

    def _put(self, node: Node, below: tuple[Node, ...]) -> Node:
        """The node on others below it; in place of a quantifier, a relation of its free variables."""
        node = with_children(node, below)
        if not isinstance(node, Quantifier):
            return node
        # What holds for all is false of none.
        is_all, free = node.kind == FORALL.name, self._planner.free(node)
        inner = Not(node.body) if is_all else node.body
        whole = inner if node.guard is None else And(node.guard, inner)
        groups = [*node.groups, *((name,) for name in free)]
        rows = self._select(whole, groups, free or node.variables)
        if free:
            found: Node = Apply(self._add(node, free, rows), tuple(map(Name, free)))
        else:
            found = parse("0 = 0" if len(rows) else "0 = 1")
        return Not(found) if is_all else found

    def _add(self, node: Quantifier, free: Sequence[str], rows: Rows) -> str:
        """The name of a relation with these rows."""
        name, signature = f"({node})", self._planner.signature
        domains = tuple(signature.variables[variable] for variable in free)
        signature.predicates[name] = domains
        self._relations[name] = _relation(name, domains, rows)
        return name

    def _select(self, node: Node, groups: Sequence[Sequence[str]], variables: Sequence[str]) -> Rows:
        """The places of individuals for which a node holds; the variables of a group lie on one axis."""
        planner, node = self._planner, negation_normal_form(node)
        frame = {name: label for group in groups for label in [planner.bind(group)] for name in group}
        if not Guard(planner, node, frame).is_the_same(node) or not all(
            map(planner.groundings.has_places, frame)
        ):
            raise LogicValueError(
                f"In a guard the definition '{self._definition.name}' is a relation between known "
                f"individuals; `{node}` compares what is learned, or is about others: move it out of the "
                "guard."
            )
        label = guards.select(planner, node, frame)
        tuples = planner.frames.tuples(label)
        if tuples is None:
            raise RuntimeError("A guard with variables selects tuples.")
        [index] = Execution(planner.world).run(planner.plan_requests([lambda: TuplesOf(label)]))
        columns = [
            planner.groundings.places(name)[index[tuples.parents.index(frame[name])].numpy()]
            for name in variables
        ]
        return distinct_rows(np.stack(columns, axis=1))


def _relation(name: str, domains: Sequence[Domain], rows: Rows) -> Relation:
    """A relation that nobody adds rows to."""
    relation = Relation(name, domains, np.asarray, lambda _: (), lambda: None)
    relation.set_rows(rows)
    return relation
