"""Links of a knowledge graph: facts, what is not known, rules; beside a plain model of the same scorer."""

import keras
import numpy as np

import ltn
from benchmarks import graphs
from benchmarks.programs.keras_steps import BATCHES, fed, no_data, step_of
from benchmarks.worker import Step

FEATURES, RATE, PENALTY = 128, 0.02, 1e-5
RULES = 20
# The step that leads nowhere: rules of one step have it as their second.
STAY = "stay"


def theory(name: str, form: str) -> Step:
    """A step on all facts, all other triples, and rules, in the form of "axioms" or of a "table"."""
    known = graphs.graph(name)
    knowledge = theory_of_graph(known)
    add_rules(knowledge, known, graphs.rules(known, RULES), form)
    return step_of(knowledge, no_data(), "train")


def plain(name: str) -> Step:
    """A step on all facts and as many other triples, as labelled rows."""
    known = graphs.graph(name)
    model = model_of_graph(known)
    unknown, rng = others(known), np.random.default_rng(0)
    batches = [labelled(known, unknown, rng) for _ in range(BATCHES)]
    triples = {each: np.concatenate([rows[each] for rows, _ in batches]) for each in "hrt"}
    labels = np.concatenate([labels for _, labels in batches])
    return step_of(model, fed((triples, labels), 2 * len(known.train)), "train")


def theory_of_graph(known: graphs.Graph, seed: int = 0) -> ltn.Theory:
    """What is known is true, and what is not known is not; compiled."""
    keras.utils.set_random_seed(seed)
    theory = ltn.Theory("log_product")
    entities, relations = (
        theory.domain("entities", shape=FEATURES),
        theory.domain("relations", shape=FEATURES),
    )
    theory.constants(known.entities, entities, initializer="glorot_uniform", regularizer=penalty())
    theory.constants(known.relations, relations, initializer="glorot_uniform", regularizer=penalty())
    theory.variables("h, t, x, y, z", entities)
    theory.variable("r", relations)
    theory.predicate("holds", (entities, relations, entities), ltn.Predicate.ComplEx())
    theory.relation("known", (entities, relations, entities), known.train)
    theory.axioms("""
        facts: forall h, r, t where known(h, r, t): holds(h, r, t)
        others: forall h, r, t where ~known(h, r, t): ~holds(h, r, t)
    """)
    theory.compile(keras.optimizers.Adam(RATE))
    return theory


def add_rules(theory: ltn.Theory, known: graphs.Graph, rules: list[graphs.Rule], form: str) -> None:
    """Rules, all of them one axiom over a table of them; or each an axiom, which together weigh as much."""
    if form == "axioms":
        for number, rule in enumerate(rules, start=1):
            theory.axiom(str(rule), name=f"rule_{number}", weight=1.0 / len(rules))
        return
    entities, relations = (theory.signature.domains[name] for name in ("entities", "relations"))
    named = [str(graphs.Step(name, backwards)) for name in known.relations for backwards in (False, True)]
    ways = theory.domain("ways", values=[*named, STAY])
    theory.variables("v, w", ways)
    rows = [(known.entities[h], known.relations[r], known.entities[t]) for h, r, t in known.train]
    steps = [(start, str(graphs.Step(name, False)), end) for start, name, end in rows]
    steps += [(end, str(graphs.Step(name, True)), start) for start, name, end in rows]
    steps += [(name, STAY, name) for name in known.entities]
    theory.relation("step", (entities, ways, entities), steps)
    bodies = [([*map(str, rule.body), STAY][:2], rule.head) for rule in rules]
    theory.relation("rule", (ways, ways, relations), [(*body, head) for body, head in bodies])
    theory.axiom(
        "forall x, y, z, v, w, r where rule(v, w, r) & step(x, v, y) & step(y, w, z) & ~known(x, r, z): "
        "holds(x, r, z)",
        name="rules",
    )


def model_of_graph(known: graphs.Graph, seed: int = 0) -> keras.Model:
    """The same scorer on layers of Keras; compiled."""
    keras.utils.set_random_seed(seed)
    h, r, t = (keras.Input((), dtype="int32", name=name) for name in "hrt")
    entity, relation = (
        keras.layers.Embedding(len(names), FEATURES, "glorot_uniform", penalty())
        for names in (known.entities, known.relations)
    )
    (a, b), (c, d), (e, f) = (
        keras.ops.split(layer(index), 2, axis=-1)
        for layer, index in ((entity, h), (relation, r), (entity, t))
    )
    # Re(h r conj(t)), of vectors of complex numbers.
    products = (a * c - b * d) * e + (a * d + b * c) * f
    model = keras.Model({"h": h, "r": r, "t": t}, keras.ops.sum(products, axis=-1, keepdims=True))
    model.compile(keras.optimizers.Adam(RATE), keras.losses.BinaryCrossentropy(from_logits=True))
    return model


def penalty() -> keras.regularizers.Regularizer:
    """What keeps embeddings small."""
    return keras.regularizers.L2(PENALTY)


def others(known: graphs.Graph) -> np.ndarray:
    """The numbers of all triples that are not known."""
    sizes = len(known.entities), len(known.relations), len(known.entities)
    return np.setdiff1d(np.arange(np.prod(sizes)), np.ravel_multi_index(tuple(known.train.T), sizes))


def labelled(
    known: graphs.Graph, others: np.ndarray, rng: np.random.Generator
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """All facts, and as many of the others, with their truths."""
    sizes = len(known.entities), len(known.relations), len(known.entities)
    drawn = np.stack(np.unravel_index(rng.choice(others, len(known.train)), sizes), axis=1)
    rows = np.concatenate([known.train, drawn]).astype(np.int32)
    labels = np.repeat(np.array([1.0, 0.0], np.float32), len(known.train))
    return dict(zip("hrt", rows.T, strict=True)), labels[:, np.newaxis]
