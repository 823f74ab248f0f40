"""Learning embeddings (section 4.7): smokers, friends, cancer.

Fourteen people in two groups, some facts about them, and rules. The negative facts about friendship are the
pairs u < v within each group that are not among the friends: the u > v that the paper prints would
contradict symmetry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import keras
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

import ltn
from examples.harness import Experiment, Line, Metric, Panel, Recorder, Run, Setting, draw, satisfaction
from ltn.plot.style import TRUTH, UNKNOWN, add_title, ink, ink_on, picture

GROUPS = ("abcdefgh", "ijklmn")
PEOPLE = "".join(GROUPS)
PAIRS = [u + v for group in GROUPS for u in group for v in group if u < v]
FRIENDS = ["ab", "ae", "af", "ag", "bc", "cd", "ef", "gh", "ij", "jm", "kl", "mn"]
SMOKERS = "aefgjn"
# Known in the first group only.
ILL = "ae"

FACTS = {
    "friends": FRIENDS,
    "strangers": [pair for pair in PAIRS if pair not in FRIENDS],
    "smokers": SMOKERS,
    "non_smokers": [who for who in PEOPLE if who not in SMOKERS],
    "ill": ILL,
    "healthy": [who for who in GROUPS[0] if who not in ILL],
}
# The paper prints the contrapositive of another axiom; its converse says something new.
RULES = {"printed": "~C(x) -> ~S(x)", "converse": "~S(x) -> ~C(x)"}
# Not among the axioms; the paper finds the first true and the second false.
QUERIES = {
    "phi1: cancer -> smokes": "forall x: C(x) -> S(x)",
    "phi2: cancer -> friends": "forall x, y: C(x) | C(y) -> F(x, y)",
}


def theory_of_people(last_rule: str = RULES["printed"]) -> ltn.Theory:
    """Facts and rules about smoking, friendship and cancer."""
    theory = ltn.Theory("stable_product", p_forall=2, p_exists=1)

    # Domains
    people = theory.domain("people", shape=5)

    # Constants, and their grounding: embeddings that are learned
    theory.constants(" ".join(PEOPLE), people, trainable=True)

    # Variables
    theory.variables("x, y", people)

    # Relations: what is known
    theory.relation("asked", (people, people), map(tuple, PAIRS))
    theory.relation("friends", (people, people), map(tuple, FRIENDS))
    theory.relation("smoker", people, list(SMOKERS))
    theory.relation("examined", people, list(GROUPS[0]))
    theory.relation("patient", people, list(ILL))

    # Predicates, and their grounding
    theory.predicate("S", people, ltn.Predicate.MLP([5], (8, 8)))
    theory.predicate("C", people, ltn.Predicate.MLP([5], (8, 8)))
    theory.predicate("F", (people, people), ltn.Predicate.MLP([5, 5], (8, 8)))

    # Axioms
    theory.axioms(f"""
        friends: forall x, y where friends(x, y): F(x, y)
        strangers: forall x, y where asked(x, y) & ~friends(x, y): ~F(x, y)
        smokers: forall x where smoker(x): S(x)
        non_smokers: forall x where ~smoker(x): ~S(x)
        ill: forall x where patient(x): C(x)
        healthy: forall x where examined(x) & ~patient(x): ~C(x)

        anti_reflexive: forall[p=6] x: ~F(x, x)
        symmetric: forall[p=6] x, y: F(x, y) -> F(y, x)
        everyone_has_a_friend: forall x: exists y: F(x, y)
        smoking_spreads: forall x, y: F(x, y) & S(x) -> S(y)
        smoking_kills: forall x: S(x) -> C(x)
        not_otherwise: forall x: {last_rule}
    """)
    return theory


def run(setting: Setting, seed: int) -> Run:
    """Learn the embeddings and the predicates, asking two formulas on the way."""
    theory = theory_of_people(RULES[setting.options["rule"]])

    # Querying
    def measure() -> dict[str, float]:
        asked = {name: float(theory.query(formula, p=5)) for name, formula in QUERIES.items()}
        return {"satisfaction": satisfaction(theory, {}), **asked}

    # Learning
    recorder = Recorder(measure, every=20)
    schedule = ltn.callbacks.Schedule("p_exists", {0: 1, 200: 6})
    theory.compile(keras.optimizers.Adam(0.001))
    theory.fit(epochs=setting.epochs, callbacks=[schedule, recorder], verbose=0)
    return Run(recorder.last, recorder.curves, recorder.epochs, pictures=pictures(theory), model=theory)


def pictures(theory: ltn.Theory) -> dict[str, Figure]:
    """What was known, what is inferred, and the embeddings."""
    habits = np.stack([theory.query(f"{name}(x)").tensor.numpy() for name in "SC"], axis=1)
    friendship = theory.query("F(x, y)").tensor.numpy()
    return {
        "smokers_facts": heat_maps("known", *known_facts()),
        "smokers_inferred": heat_maps("after learning", habits, friendship),
        "smokers_embeddings": embeddings(theory.query("x").tensor.numpy(), habits, friendship),
    }


def known_facts() -> tuple[np.ndarray, np.ndarray]:
    """The facts as truths, of habits (14, 2) and of friendship (14, 14); NaN where nothing is known."""
    habits, friendship = np.full((len(PEOPLE), 2), np.nan), np.full((len(PEOPLE),) * 2, np.nan)
    columns = {"smokers": (0, 1.0), "non_smokers": (0, 0.0), "ill": (1, 1.0), "healthy": (1, 0.0)}
    for name, (column, truth) in columns.items():
        habits[[PEOPLE.index(who) for who in FACTS[name]], column] = truth
    for name, truth in (("friends", 1.0), ("strangers", 0.0)):
        for pair in FACTS[name]:
            friendship[PEOPLE.index(pair[0]), PEOPLE.index(pair[1])] = truth
    return habits, friendship


def heat_maps(title: str, habits: np.ndarray, friendship: np.ndarray) -> Figure:
    """Smoking and cancer of everybody, and friendship within the groups."""
    figure = picture(13.0, 5.2)
    panels = figure.subplots(1, 3, width_ratios=(2.5, 8, 6))
    colours = TRUTH.with_extremes(bad=UNKNOWN)
    first = len(GROUPS[0])
    cells = (
        (habits, PEOPLE, ("smokes", "cancer"), f"Habits, {title}"),
        (friendship[:first, :first], GROUPS[0], GROUPS[0], f"F(x, y) in group 1, {title}"),
        (friendship[first:, first:], GROUPS[1], GROUPS[1], f"F(x, y) in group 2, {title}"),
    )
    for axes, (truths, rows, columns, name) in zip(panels, cells, strict=True):
        image = axes.imshow(truths, cmap=colours, vmin=0.0, vmax=1.0, aspect="auto")
        for (row, column), truth in np.ndenumerate(truths):
            if np.isfinite(truth):
                look = {"ha": "center", "va": "center", "fontsize": 8}
                axes.text(column, row, f"{truth:.2f}", color=ink_on(truth), **look)
        axes.set_xticks(range(len(columns)), list(columns))
        axes.set_yticks(range(len(rows)), list(rows))
        add_title(axes, name, 34)
    grey = " (grey: not known)" if np.isnan(friendship).any() else ""
    figure.colorbar(image, ax=panels, label=f"truth{grey}")
    return figure


def projected(vectors: np.ndarray) -> np.ndarray:
    """The two principal components of each."""
    centred = vectors - vectors.mean(axis=0)
    return centred @ np.linalg.svd(centred)[2][:2].T


def embeddings(vectors: np.ndarray, habits: np.ndarray, friendship: np.ndarray) -> Figure:
    """The embeddings in two dimensions, with what the predicates say of them."""
    places = projected(vectors)
    figure = picture(9.6, 8.0)
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    titles = ("Embeddings, by PCA", "S(x)", "F(x, y) above 0.5", "C(x)")
    for axes, title in zip(panels.flat, titles, strict=True):
        for who, place in zip(PEOPLE, places, strict=True):
            name = axes.annotate(who, place, xytext=(5, 4), textcoords="offset points")
            # Lines between friends pass through names.
            name.set_path_effects([withStroke(linewidth=3, foreground=axes.get_facecolor())])
        add_title(axes, title)
    panels[0, 0].scatter(*places.T, color=ink(), s=24)
    for axes, truths in ((panels[0, 1], habits[:, 0]), (panels[1, 1], habits[:, 1])):
        image = axes.scatter(*places.T, c=truths, cmap=TRUTH, vmin=0.0, vmax=1.0, s=60, edgecolors="black")
    for u, v in np.argwhere(friendship > 0.5):
        panels[1, 0].plot(*places[[u, v]].T, color="grey", linewidth=0.8, zorder=0)
    panels[1, 0].scatter(*places.T, color=ink(), s=24)
    figure.colorbar(image, ax=panels[:, 1], label="truth")
    return figure


def settings() -> tuple[Setting, ...]:
    """The paper's, and the same with the converse of its last rule."""
    first, second = QUERIES
    metrics = (
        Metric("satisfaction", words="curves only"),
        Metric(first, words="to true", bound=0.5),
        Metric(second, words="to false", bound=0.5, lower_is_better=True),
    )
    names = {"printed": "paper", "converse": "converse rule"}
    return tuple(Setting(names[rule], metrics, epochs=1000, options={"rule": rule}) for rule in RULES)


def curves(runs: Mapping[str, Sequence[Run]]) -> dict[str, Figure]:
    """The satisfaction, and the two queries."""
    rows = {
        setting: [
            Panel("Satisfaction", {"satisfaction": Line(done, "satisfaction")}),
            Panel("Queries", {name: Line(done, name) for name in QUERIES}),
        ]
        for setting, done in runs.items()
    }
    return {"smokers_curves": draw(rows)}


EXPERIMENT = Experiment(
    "smokers",
    "4.7",
    "Learning embeddings: smokers, friends, cancer",
    settings,
    run,
    curves,
    options={"rule": tuple(RULES)},
    findings="""
        The last rule that the paper prints, not C implies not S, is the contrapositive of the one before it.
        So nothing says that only smokers have cancer: for the second group's non-smokers it is open, and
        whether phi1 becomes true depends on how the networks happen to generalise. With the converse, not S
        implies not C, phi1 follows from an axiom and becomes true in every run, as in the paper's figure.
    """,
)
