"""What is drawn, and what is to be read in a picture."""

from typing import Any

LOGS = {
    "loss": [0.7, 0.5, 0.3],
    "satisfaction": [0.3, 0.5, 0.7],
    "friends": [0.2, 0.4, 0.6],
    "symmetric": [0.8, 0.9, 1.0],
    "learning_rate": [0.001, 0.001, 0.0005],
    "norm_of_weights": [3.0, 3.5, 4.0],
    "val_loss": [0.8, 0.6, 0.4],
    "val_satisfaction": [0.2, 0.4, 0.6],
    "val_friends": [0.1, 0.3, 0.5],
}


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
