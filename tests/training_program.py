"""A process that trains with a backup: `python -m tests.training_program FOLDER WEIGHTS EVENT`.

It is killed when it touches the folder for the n-th time; if it comes to the end, it writes the weights.
"""

import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np

import ltn
from tests import faults
from tests.theory.theories import classifier, labelled_points

DATA = labelled_points(10)
EPOCHS = 8


def followers() -> list[keras.callbacks.Callback]:
    """Callbacks that remember what they have seen."""
    return [
        keras.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1, min_delta=0.01, cooldown=1),
        keras.callbacks.EarlyStopping("loss", patience=30, restore_best_weights=True),
    ]


def train(*callbacks: keras.callbacks.Callback, **options: Any) -> tuple[ltn.Theory, Any]:
    """A theory that was trained on shuffled batches, and the history."""
    keras.utils.set_random_seed(0)
    theory = classifier()
    theory.compile(keras.optimizers.Adam(0.05))
    options = {"batch_size": 4, "epochs": EPOCHS, "verbose": 0} | options
    return theory, theory.fit(DATA, callbacks=[*callbacks, *followers()], **options)


def main() -> None:
    folder, weights, event = sys.argv[1:]
    faults.kill_at(int(event), Path(folder))
    theory, _ = train(ltn.callbacks.Backup(folder))
    np.savez(weights, *theory.get_weights())


if __name__ == "__main__":
    main()
