"""What is to be read in a picture."""

from typing import Any


def curves(figure: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in figure.axes[0].lines}


def legend(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def written(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def names(labels: Any) -> list[str]:
    return [label.get_text() for label in labels]


def image(figure: Any) -> Any:
    return figure.axes[0].images[0]
