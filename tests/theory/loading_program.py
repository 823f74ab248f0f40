"""What a fresh process does with files: `python -m tests.theory.loading_program THEORY DATA MODEL`.

The last line that it prints tells what it found.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np

import ltn


def found_by(load: Callable[[str], Any], file: str, data: dict[str, Any]) -> dict[str, Any]:
    """What a loaded theory is, and, if it comes from `ltn.load`, what it is after further training."""
    theory = load(file)
    report = theory.report(data)
    found = {
        "kind": type(theory).__name__,
        "satisfaction": report.satisfaction.tolist(),
        "weight": report.weight.tolist(),
        "formula": report.formula.tolist(),
        "hyperparameters": theory.hyperparameters,
        "names": theory.query("F(x, y)").to_frame().index.tolist(),
        "rate": float(theory.optimizer.learning_rate.numpy()),
    }
    if load is keras.models.load_model:
        return found
    theory.fit(data, epochs=2, shuffle=False, verbose=0)
    found["steps"] = int(theory.optimizer.iterations.numpy())
    found["weights"] = [weight.tolist() for weight in theory.get_weights()]
    return found


def main() -> None:
    file, values, informed = sys.argv[1:]
    data = {name: np.array(rows, np.float32) for name, rows in json.loads(Path(values).read_text()).items()}
    loads = {"ltn.load": ltn.load, "load_model": keras.models.load_model}
    found = {name: found_by(load, file, data) for name, load in loads.items()}
    model = keras.models.load_model(informed)
    found["knowledge"] = {
        "predicted": model.predict(data["z"], verbose=0).tolist(),
        "shared": model.theory.symbols["P"].network is model.model,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
