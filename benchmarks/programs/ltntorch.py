"""The workloads on LTNtorch, eagerly, as its users run them."""

# mypy: ignore-errors
# Here `ltn` is that library.

from collections.abc import Callable
from itertools import pairwise

import torch

import ltn
from benchmarks import inputs
from benchmarks.worker import Step

Not = ltn.Connective(ltn.fuzzy_ops.NotStandard())
And = ltn.Connective(ltn.fuzzy_ops.AndProd())
Implies = ltn.Connective(ltn.fuzzy_ops.ImpliesReichenbach())
Equiv = ltn.Connective(ltn.fuzzy_ops.Equiv(ltn.fuzzy_ops.AndProd(), ltn.fuzzy_ops.ImpliesReichenbach()))
Forall = ltn.Quantifier(ltn.fuzzy_ops.AggregPMeanError(p=2), quantifier="f")
Exists = ltn.Quantifier(ltn.fuzzy_ops.AggregPMean(p=2), quantifier="e")
SatAgg = ltn.fuzzy_ops.SatAgg(ltn.fuzzy_ops.AggregPMeanError(p=2))


def mlp(sizes: list[int]) -> torch.nn.Sequential:
    """Dense layers with elu between them."""
    layers: list[torch.nn.Module] = []
    for width, units in pairwise(sizes):
        layers += [torch.nn.Linear(width, units), torch.nn.ELU()]
    return torch.nn.Sequential(*layers[:-1])


class OfClass(torch.nn.Module):
    """The probability of a class."""

    def __init__(self, logits: torch.nn.Module) -> None:
        super().__init__()
        self.logits = logits

    def forward(self, x: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        """One truth for each row."""
        return torch.gather(torch.softmax(self.logits(x), dim=1), 1, label)


class Truth(torch.nn.Module):
    """A network of all arguments together, with a sigmoid."""

    def __init__(self, arguments: int) -> None:
        super().__init__()
        self.network = mlp([arguments * inputs.FEATURES, 8, 8, 1])

    def forward(self, *arguments: torch.Tensor) -> torch.Tensor:
        """One truth for each row."""
        return torch.sigmoid(self.network(torch.cat(arguments, dim=1)))


def addition(task: str, phase: str) -> Step:
    """The axiom on one batch, with a guarded quantifier."""
    network = torch.nn.Sequential(
        torch.nn.Conv2d(1, 6, 5),
        torch.nn.ELU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(6, 16, 5),
        torch.nn.ELU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        mlp([256, 100, 84, 10]),
    )
    Digit = ltn.Predicate(OfClass(network))
    pixels, sums = inputs.additions(task)
    images = [torch.from_numpy(image).permute(0, 3, 1, 2).contiguous() for image in pixels]
    results, places = torch.from_numpy(sums), inputs.PLACES[task]
    digits = [ltn.Variable(f"d{number}", torch.arange(10)) for number in range(len(places))]

    def adds_up(*terms: ltn.LTNObject) -> torch.Tensor:
        *chosen, n = (term.value for term in terms)
        return sum(place * digit for place, digit in zip(places, chosen, strict=True)) == n

    def satisfaction() -> torch.Tensor:
        shown = [ltn.Variable(f"x{number}", image) for number, image in enumerate(images)]
        n = ltn.Variable("n", results)
        # Before the body: from here on they share an axis.
        rows = ltn.diag(*shown, n)
        first, *rest = (Digit(image, digit) for image, digit in zip(shown, digits, strict=True))
        body = first
        for atom in rest:
            body = And(body, atom)
        return Forall(rows, Exists(digits, body, cond_vars=[*digits, n], cond_fn=adds_up)).value

    return eager(satisfaction, list(network.parameters()), phase)


def clustering(count: int) -> Step:
    """Four axioms about points, two of them guarded."""
    network = mlp([2, 16, 16, 16, inputs.CLUSTERS])
    C = ltn.Predicate(OfClass(network))
    points = torch.from_numpy(inputs.clouds(count))
    c = ltn.Variable("c", torch.arange(inputs.CLUSTERS))

    def distance(x: ltn.LTNObject, y: ltn.LTNObject) -> torch.Tensor:
        return torch.norm(x.value - y.value, dim=1)

    def satisfaction() -> torch.Tensor:
        x, y = ltn.Variable("x", points), ltn.Variable("y", points)
        close = {"cond_vars": [x, y], "cond_fn": lambda x, y: distance(x, y) < 0.2, "p": 4}
        distant = {"cond_vars": [x, y], "cond_fn": lambda x, y: distance(x, y) > 1.0, "p": 4}
        return SatAgg(
            Forall(x, Exists(c, C(x, c), p=1), p=4),
            Forall(c, Exists(x, C(x, c), p=1), p=4),
            Forall([c, x, y], Equiv(C(x, c), C(y, c)), **close),
            Forall([c, x, y], Not(And(C(x, c), C(y, c))), **distant),
        )

    return eager(satisfaction, list(network.parameters()))


def relation(count: int) -> Step:
    """A symmetric relation between rows of a matrix that is learned."""
    table = torch.nn.Parameter(torch.from_numpy(inputs.embeddings(count)))
    network = Truth(2)
    F = ltn.Predicate(network)

    def satisfaction() -> torch.Tensor:
        x, y = ltn.Variable("x", table), ltn.Variable("y", table)
        return Forall([x, y], Implies(F(x, y), F(y, x))).value

    return eager(satisfaction, [table, *network.parameters()])


def smokers() -> Step:
    """The paper's smokers: constants, and variables over them."""
    rows = torch.from_numpy(inputs.embeddings(14))
    people = {u: ltn.Constant(row, trainable=True) for u, row in zip(inputs.PEOPLE, rows, strict=True)}
    networks = [Truth(1), Truth(1), Truth(2)]
    S, C, F = (ltn.Predicate(network) for network in networks)

    def over(label: str, individuals: list[str]) -> ltn.Variable:
        return ltn.Variable(label, torch.stack([people[u].value for u in individuals]))

    def satisfaction() -> torch.Tensor:
        x, y = (over(label, list(people)) for label in "xy")
        f1, f2, g1, g2, s1, s0, c1, c0 = (over(label, some) for label, some in inputs.GIVEN.items())
        return SatAgg(
            Forall(ltn.diag(f1, f2), F(f1, f2)),
            Forall(ltn.diag(g1, g2), Not(F(g1, g2))),
            Forall(s1, S(s1)),
            Forall(s0, Not(S(s0))),
            Forall(c1, C(c1)),
            Forall(c0, Not(C(c0))),
            Forall(x, Not(F(x, x)), p=6),
            Forall([x, y], Implies(F(x, y), F(y, x)), p=6),
            Forall(x, Exists(y, F(x, y), p=6)),
            Forall([x, y], Implies(And(F(x, y), S(x)), S(y))),
            Forall(x, Implies(S(x), C(x))),
            Forall(x, Implies(Not(C(x)), Not(S(x)))),
        )

    weights = [constant.value for constant in people.values()]
    return eager(satisfaction, weights + [weight for network in networks for weight in network.parameters()])


def eager(
    satisfaction: Callable[[], torch.Tensor], weights: list[torch.Tensor], phase: str = "train"
) -> Step:
    """A step of Adam, or in phase "query" the satisfaction alone."""
    optimizer = torch.optim.Adam(weights, lr=1e-3)

    def train() -> torch.Tensor:
        optimizer.zero_grad()
        loss = 1.0 - satisfaction()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return train if phase == "train" else torch.no_grad()(satisfaction)
