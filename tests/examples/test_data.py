"""Data: where they are looked for, what they hold, what is said about missing and damaged files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pandas as pd
import pytest

from examples.harness import DataError, data


def write_real_estate(folder: Path, rows: int = 414, **columns: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    table = {name: np.arange(rows, dtype=float) for name in ("No", *data.REAL_ESTATE)} | columns
    pd.DataFrame(table).to_csv(folder / "real_estate.csv", index=False)
    return folder / "real_estate.csv"


def write_mnist(path: Path, train: int, test: int = 4) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    images, labels = ([np.zeros((n, *shape), np.uint8) for n in (train, test)] for shape in ((28, 28), ()))
    np.savez(path, x_train=images[0], y_train=labels[0], x_test=images[1], y_test=labels[1])


def test_what_the_shipped_files_hold() -> None:
    flowers, species = data.iris()
    assert flowers.shape == (150, 4)
    assert np.bincount(species).tolist() == [50, 50, 50]
    assert flowers[0].tolist() == [5.1, 3.5, 1.4, 0.2]
    measurements, colours, sexes = data.crabs()
    assert measurements.shape == (200, 5)
    assert [np.bincount(part).tolist() for part in (colours, sexes)] == [[100, 100], [100, 100]]
    images = data.mnist(6000)
    assert images.train.shape == (6000, 28, 28)
    assert images.test.shape == (2000, 28, 28)
    assert images.train_labels[:5].tolist() == [5, 0, 4, 1, 9]
    assert images.source == "MNIST, 6000 training and 2000 test images"


def test_without_the_papers_real_estate_there_are_sales_in_windsor() -> None:
    sales = data.sales()
    assert sales.source == "546 house sales in Windsor (not the paper's data)"
    assert sales.features.shape == (546, 11)
    # The first row of the file: 42000,5850,3,1,2,yes,no,yes,no,no,1,no
    assert sales.prices[0] == 42.0
    assert sales.features[0].tolist() == [5850, 3, 1, 2, 1, 0, 1, 0, 0, 1, 0]


def test_a_folder_comes_before_the_cache_and_the_cache_before_the_shipped_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "keras" / "datasets"
    write_mnist(cache / "mnist.npz", train=7)
    write_mnist(tmp_path / "mine" / "mnist.npz", train=9)
    assert len(data.mnist(5).train) == 7
    monkeypatch.setenv("LTN_DATA", str(tmp_path / "mine"))
    data.mnist.cache_clear()
    assert len(data.mnist(5).train) == 9
    # What the folder does not have comes from the next place.
    assert len(data.iris()[0]) == 150


def test_only_the_shipped_copies_count_where_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_mnist(tmp_path / "keras" / "datasets" / "mnist.npz", train=7)
    monkeypatch.setenv("LTN_DATA", str(write_real_estate(tmp_path / "mine").parent))
    monkeypatch.setattr(data, "REAL_ESTATE_ORIGIN", write_real_estate(tmp_path / "server").as_uri())
    monkeypatch.setenv("LTN_SHIPPED_DATA", "1")
    assert len(data.mnist(5).train) == 6000
    assert len(data.sales().prices) == 546
    assert not (tmp_path / "keras" / "datasets" / "real_estate.csv").exists()
    with pytest.raises(DataError, match="holds 6000 training images, but 6001 are needed"):
        data.mnist(6001)


@pytest.mark.parametrize("place", ["mine", "keras/datasets"])
def test_real_estate_is_used_where_it_is_found(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_real_estate(tmp_path / place)
    if place == "mine":
        monkeypatch.setenv("LTN_DATA", str(tmp_path / place))
    sales = data.sales()
    assert sales.source == "414 sales of real estate in New Taipei (the paper's data)"
    assert sales.features.shape == (414, 6)
    assert sales.prices[5] == 5.0


def test_real_estate_is_downloaded_to_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "REAL_ESTATE_ORIGIN", write_real_estate(tmp_path / "server").as_uri())
    assert data.sales().features.shape == (414, 6)
    assert (tmp_path / "keras" / "datasets" / "real_estate.csv").is_file()


def test_a_page_about_something_else_is_no_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.html"
    page.write_text("<html>Please log in to the network.</html>")
    monkeypatch.setattr(data, "REAL_ESTATE_ORIGIN", page.as_uri())
    assert len(data.sales().prices) == 546
    assert not list((tmp_path / "keras" / "datasets").iterdir())


def test_the_whole_mnist_comes_from_keras(monkeypatch: pytest.MonkeyPatch) -> None:
    images, labels = np.zeros((60000, 1, 1), np.uint8), np.zeros(60000, np.uint8)
    monkeypatch.setattr(keras.datasets.mnist, "load_data", lambda: ((images, labels), (images, labels)))
    assert len(data.mnist(6001).train) == 60000


def test_too_few_images_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def offline() -> None:
        raise Exception("URL fetch failure")

    monkeypatch.setattr(keras.datasets.mnist, "load_data", offline)
    with pytest.raises(
        DataError, match=r"60000 training images.*URL fetch failure.*Put mnist.npz into a folder"
    ):
        data.mnist(60000)


def test_a_file_with_too_few_images(tmp_path: Path) -> None:
    write_mnist(tmp_path / "keras" / "datasets" / "mnist.npz", train=7)
    with pytest.raises(DataError, match="holds 7 training images, but 6000 are needed"):
        data.mnist(6000)


def test_a_folder_that_does_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LTN_DATA", str(tmp_path / "typo"))
    with pytest.raises(DataError, match=r"There is no folder .*typo, where LTN_DATA or --data looks"):
        data.iris()


def test_a_missing_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "SHIPPED", tmp_path)
    with pytest.raises(DataError, match=r"crabs.csv is missing. It belongs to examples/data"):
        data.crabs()


@pytest.mark.parametrize(
    ("name", "content", "load", "message"),
    [
        ("iris.csv", b"", data.iris, "No columns"),
        ("iris.csv", b"\xff\xfe\x00", data.iris, "damaged"),
        ("iris.csv", b"a,b\n1,2\n", data.iris, "it has no column 'Sepal.Length' but a, b"),
        ("crabs.csv", b"sp,sex,FL,RW,CL,CW,BD\nB,M,1,2,3,4,5\n", data.crabs, "it has 1 rows, not 200"),
        (
            "crabs.csv",
            b"sp,sex,FL,RW,CL,CW,BD\n" + 200 * b"G,M,1,2,3,4,5\n",
            data.crabs,
            "the value 'G' is not expected there",
        ),
        (
            "crabs.csv",
            b"sp,sex,FL,RW,CL,CW,BD\n" + 200 * b"B,M,1,2,3,4,big\n",
            data.crabs,
            "could not convert string to float: 'big'",
        ),
        (
            "crabs.csv",
            b"sp,sex,FL,RW,CL,CW,BD\n" + 200 * b"B,M,1,2,3,4,\n",
            data.crabs,
            "values are missing in it",
        ),
        (
            "mnist.npz",
            b"not a file of NumPy",
            lambda: data.mnist(10),
            "no file of NumPy with the arrays x_tr",
        ),
    ],
)
def test_damaged_files(
    name: str,
    content: bytes,
    load: Callable[[], Any],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LTN_DATA", str(tmp_path))
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as error:
        load()
    assert message in str(error.value)
    assert f"{tmp_path / name} is damaged" in str(error.value)
    assert "examples/data/README.md says where it comes from" in str(error.value)


def test_images_without_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LTN_DATA", str(tmp_path))
    images, labels = np.zeros((5, 28, 28)), np.zeros(4)
    np.savez(tmp_path / "mnist.npz", x_train=images, y_train=labels, x_test=images, y_test=labels)
    with pytest.raises(DataError, match="images of shape \\(5, 28, 28\\) with 4 labels"):
        data.mnist(5)


def test_every_shipped_file_has_its_source_and_licence() -> None:
    said = (data.SHIPPED / "README.md").read_text()
    files = {path.name for path in data.SHIPPED.iterdir()} - {"README.md"}
    assert files == {"iris.csv", "crabs.csv", "house_prices.csv", "mnist_8000.npz"}
    for name in files:
        row = next(line for line in said.splitlines() if line.startswith(f"| `{name}`"))
        assert all(cell.strip() for cell in row.strip("|").split("|"))


def test_parts_of_data() -> None:
    train, test = data.split(10, 7, np.random.default_rng(0))
    assert sorted([*train, *test]) == list(range(10))
    assert [part.tolist() for part in data.split(5, 2)] == [[0, 1], [2, 3, 4]]
    with pytest.raises(DataError, match="Of 10 examples at most 9 can be for training"):
        data.split(10, 10)


def test_features_are_standardised_on_the_training_part() -> None:
    features = np.random.default_rng(0).normal(3.0, 2.0, size=(20, 4))
    train = np.arange(15)
    scaled = data.standardised(features, train)
    # Of float32, hence not exact.
    np.testing.assert_allclose(scaled[train].mean(axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(scaled[train].std(axis=0), 1.0, atol=1e-6)
    assert abs(scaled[15:].mean()) > 1e-3
    features[train, 0] = 7.0
    assert np.all(data.standardised(features, train)[train, 0] == 0.0)
