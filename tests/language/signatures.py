"""The language that the tests of checking share."""

from ltn.language import Domain, Signature


def example() -> Signature:
    """People in towns, images of digits, ages with bounds, and points."""
    signature = Signature()
    people = Domain("people", shape=4)
    towns = Domain("towns", values=["Rome", "Seoul"])
    digits = Domain("digits", values=range(10))
    images = Domain("images", shape=(28, 28, 1))
    ages = Domain("ages", bounds=(0, 120))
    points = Domain("points", shape=2)
    for domain in (people, towns, digits, images, ages, points):
        signature.add_domain(domain)
    for name in ("Alice", "Bob", "Charlie"):
        signature.add_constant(name, people)
    variables = {
        people: "x y z",
        towns: "u",
        digits: "d1 d2",
        images: "i j",
        ages: "n",
        points: "v w",
        people * towns: "home",
    }
    for domain, names in variables.items():
        for name in names.split():
            signature.add_variable(name, domain)
    signature.add_predicate("lives_in", (people, towns))
    signature.add_predicate("Smokes", people)
    signature.add_predicate("digit", [images, digits])
    signature.add_predicate("old", ages)
    signature.add_predicate("near", points * points)
    signature.add_function("age", people, ages)
    signature.add_function("father", (people,), people)
    signature.add_function("at", people, people * towns)
    signature.add_proposition("A")
    signature.add_proposition("B")
    return signature
