"""The data of the experiments, each looked for in the same places.

In this order: the folder named by the environment variable LTN_DATA (`--data` on the command line), Keras's
cache, the copy shipped with the examples, a download. Where LTN_SHIPPED_DATA is set, only the shipped copies
count, so that results do not depend on the machine.
"""

from __future__ import annotations

import functools
import http.client
import os
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np
import pandas as pd

SHIPPED = Path(__file__).parent.parent / "data"
# The table that the UCI Machine Learning Repository serves for its data set 477.
REAL_ESTATE_ORIGIN = "https://archive.ics.uci.edu/static/public/477/data.csv"
PATIENCE = 10.0  # seconds without an answer until a download is given up

IRIS = ("Sepal.Length", "Sepal.Width", "Petal.Length", "Petal.Width")
CRABS = ("FL", "RW", "CL", "CW", "BD")
HOUSES = (
    *("price", "lotsize", "bedrooms", "bathrooms", "stories", "driveway"),
    *("recreation", "fullbase", "gasheat", "aircon", "garage", "prefer"),
)
REAL_ESTATE = (
    "X1 transaction date",
    "X2 house age",
    "X3 distance to the nearest MRT station",
    "X4 number of convenience stores",
    "X5 latitude",
    "X6 longitude",
    "Y house price of unit area",
)


class DataError(Exception):
    """Data are missing or damaged; the message says what to put where."""


class Sales(NamedTuple):
    """Houses, features of shape (n, k) with their names, and prices of shape (n,) with their unit."""

    features: np.ndarray
    prices: np.ndarray
    names: tuple[str, ...]
    unit: str
    source: str


class Images(NamedTuple):
    """Images of handwritten digits, 0 to 255, shape (n, 28, 28), and their labels, shape (n,)."""

    train: np.ndarray
    train_labels: np.ndarray
    test: np.ndarray
    test_labels: np.ndarray
    source: str


def iris() -> tuple[np.ndarray, np.ndarray]:
    """Four measurements of 150 flowers, and the index of their species: setosa, versicolor, virginica."""
    path = _expect("iris.csv")
    table = _read(path, (*IRIS, "Species"), rows=150)
    species = _codes(path, table["Species"], ("setosa", "versicolor", "virginica"))
    return _numbers(path, table, IRIS), species


def crabs() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Five measurements of 200 crabs, their colours (0 blue, 1 orange) and sexes (0 male, 1 female)."""
    path = _expect("crabs.csv")
    table = _read(path, ("sp", "sex", *CRABS), rows=200)
    colours, sexes = (_codes(path, table[c], kinds) for c, kinds in (("sp", "BO"), ("sex", "MF")))
    return _numbers(path, table, CRABS), colours, sexes


@functools.cache
def sales() -> Sales:
    """The paper's real estate data where they are found or can be downloaded, else sales in Windsor."""
    path = _find("real_estate.csv") or _download_real_estate()
    if path:
        table = _numbers(path, _read(path, REAL_ESTATE, rows=414), REAL_ESTATE)
        return Sales(
            table[:, :-1],
            table[:, -1],
            REAL_ESTATE[:-1],
            "10 000 New Taiwan dollars per ping",
            "414 sales of real estate in New Taipei (the paper's data)",
        )
    path = _expect("house_prices.csv")
    answers = _read(path, HOUSES, rows=546)
    table = _numbers(path, answers.where(~answers.isin(["yes", "no"]), answers == "yes"), HOUSES)
    return Sales(
        table[:, 1:],
        table[:, 0] / 1000.0,
        HOUSES[1:],
        "1 000 Canadian dollars",
        "546 house sales in Windsor (not the paper's data)",
    )


@functools.cache
def mnist(images: int) -> Images:
    """MNIST; the shipped part of it, 6 000 and 2 000 images, where the whole is not found and that is enough.

    Args:
        images: how many images are needed for training.
    """
    path = _find("mnist.npz")
    if path is None and (images <= 6000 or _only_shipped()):
        path = SHIPPED / "mnist_8000.npz"
    if path is None:
        return _all_of_mnist(images)
    found = _arrays(path)
    if len(found.train) < images:
        raise DataError(
            f"{path} holds {len(found.train)} training images, but {images} are needed. Put the whole "
            "MNIST there: mnist.npz with x_train, y_train, x_test, y_test, as keras.datasets.mnist has it."
        )
    return found


def split(
    total: int, train_size: int, rng: np.random.Generator | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The indices of the training part and of the rest, the test part; drawn at random where `rng` is given.

    >>> train, test = split(150, 120, np.random.default_rng(0))
    >>> len(train), len(test), len({*train, *test})
    (120, 30, 150)
    """
    if train_size >= total:
        raise DataError(
            f"Of {total} examples at most {total - 1} can be for training, one at least for testing; "
            f"asked for are {train_size}. Give a smaller --train-size."
        )
    order = np.arange(total) if rng is None else rng.permutation(total)
    return order[:train_size], order[train_size:]


def standardised(features: np.ndarray, training: np.ndarray) -> np.ndarray:
    """The features with mean 0 and standard deviation 1 on the training part, given by its indices.

    One that does not vary there keeps its scale.
    """
    part = features[training]
    spread = part.std(axis=0)
    return ((features - part.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)).astype(np.float32)


def _find(name: str) -> Path | None:
    """The first copy of a file, before any download."""
    places = [SHIPPED] if _only_shipped() else [*_own_folder(), _cache(), SHIPPED]
    return next((place / name for place in places if (place / name).is_file()), None)


def _only_shipped() -> bool:
    return bool(os.environ.get("LTN_SHIPPED_DATA"))


def _own_folder() -> list[Path]:
    """The folder that the user names, if any."""
    folder = os.environ.get("LTN_DATA")
    if folder and not Path(folder).is_dir():
        raise DataError(f"There is no folder {folder}, where LTN_DATA or --data looks for data. Create it.")
    return [Path(folder)] if folder else []


def _cache() -> Path:
    """Keras's folder of data sets."""
    return Path(os.environ.get("KERAS_HOME") or Path.home() / ".keras") / "datasets"


def _expect(name: str) -> Path:
    path = _find(name)
    if path is None:
        raise DataError(
            f"{name} is missing. It belongs to examples/data in the repository: restore it there, or put a "
            "copy into a folder and name that with --data or LTN_DATA."
        )
    return path


def _download_real_estate() -> Path | None:
    """The file in Keras's cache, fetched; None where that fails, as without a network, or is not wanted."""
    if _only_shipped():
        return None
    path = _cache() / "real_estate.csv"
    half = path.with_suffix(".part")
    try:
        with urllib.request.urlopen(REAL_ESTATE_ORIGIN, timeout=PATIENCE) as answer:
            content = answer.read()
        path.parent.mkdir(parents=True, exist_ok=True)
        half.write_bytes(content)
        # Read before it counts as the file: what a server sends may be a page about something else.
        _read(half, REAL_ESTATE, rows=414)
    except (OSError, http.client.HTTPException, DataError):
        half.unlink(missing_ok=True)
        return None
    return half.replace(path)


def _all_of_mnist(images: int) -> Images:
    try:
        (train, train_labels), (test, test_labels) = keras.datasets.mnist.load_data()
    except Exception as error:  # Keras raises a plain Exception where it cannot download
        raise DataError(
            f"{images} training images of MNIST are needed; 6 000 are shipped, and the download failed: "
            f"{error}. Put mnist.npz into a folder and name that with --data or LTN_DATA."
        ) from error
    return Images(train, train_labels, test, test_labels, _size_of(train, test))


def _arrays(path: Path) -> Images:
    names = ("x_train", "y_train", "x_test", "y_test")
    try:
        with np.load(path) as file:
            train, train_labels, test, test_labels = (file[name] for name in names)
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise _damaged(path, f"it is no file of NumPy with the arrays {', '.join(names)}: {error}") from error
    for images, labels in ((train, train_labels), (test, test_labels)):
        if images.shape != (len(labels), 28, 28):
            raise _damaged(path, f"images of shape {images.shape} with {len(labels)} labels")
    return Images(train, train_labels, test, test_labels, _size_of(train, test))


def _size_of(train: np.ndarray, test: np.ndarray) -> str:
    return f"MNIST, {len(train)} training and {len(test)} test images"


def _read(path: Path, columns: Any, rows: int) -> pd.DataFrame:
    try:
        table = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise _damaged(path, str(error)) from error
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise _damaged(path, f"it has no column {missing[0]!r} but {', '.join(table.columns)}")
    if len(table) != rows:
        raise _damaged(path, f"it has {len(table)} rows, not {rows}")
    return table


def _numbers(path: Path, table: pd.DataFrame, columns: Any) -> np.ndarray:
    return _checked(path, lambda: table[list(columns)].to_numpy(np.float64))


def _codes(path: Path, values: pd.Series, kinds: Any) -> np.ndarray:
    """The index of each value among its kinds."""
    indices = {kind: index for index, kind in enumerate(kinds)}
    return _checked(path, lambda: np.array([indices[value] for value in values]))


def _checked(path: Path, values: Callable[[], np.ndarray]) -> np.ndarray:
    try:
        found = values()
    except (ValueError, TypeError) as error:
        raise _damaged(path, str(error)) from error
    except KeyError as error:
        raise _damaged(path, f"the value {error} is not expected there") from error
    if not np.all(np.isfinite(found)):
        raise _damaged(path, "values are missing in it")
    return found


def _damaged(path: Path, what: str) -> DataError:
    return DataError(
        f"{path} is damaged: {what}. Remove it, so that another copy is used, or put a whole one there; "
        "examples/data/README.md says where it comes from."
    )
