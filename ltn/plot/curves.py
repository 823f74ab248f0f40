"""Training curves: how the satisfaction of a theory and of its axioms develops."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from ltn.errors import LogicTypeError, LogicValueError
from ltn.plot.style import COLOURS, add_legend, add_title, ink, picture
from ltn.plot.texts import count_in_words, shorten

# What Keras and its callbacks write into the logs beside the truth of axioms.
_NO_AXIOMS = {"satisfaction", "loss", "learning_rate", "lr"}
# With as many colours as there are, further curves get marks; dashes are for validation.
_MARKERS = ("", "o", "s", "^", "D", "v", "X", "P")
# More curves cannot be told apart at a glance: the others are grey.
_MOST = 10
_GREY: dict[str, Any] = {"color": "#9a9a9a", "linewidth": 0.6, "alpha": 0.7, "zorder": 1.5}


def training(history: Any, axioms: str | Sequence[str] | None = None) -> Figure:
    """The curves of a training: the satisfaction, thick, and each axiom; validation is dashed.

    Of more than ten axioms those that are least satisfied in the last epoch are in colour; the others are
    thin grey lines, without validation. The legend lists the axioms in colour from the most to the least
    satisfied, with their last value. An axiom has the same colour in all pictures of a theory.

    Args:
        history: what `theory.fit` returned, or its `.history`.
        axioms: the names of those to draw, all in colour; by default all axioms. Other values
            in the logs, such as metrics of a model with knowledge, count as axioms if they lie in [0, 1].

    >>> import ltn.plot
    >>> logs = {"satisfaction": [0.5, 0.8], "all": [0.4, 0.9], "val_all": [0.4, 0.7], "loss": [0.5, 0.2]}
    >>> figure = ltn.plot.training(logs)
    >>> [line.get_label() for line in figure.axes[0].lines]
    ['all', 'validation of all', 'satisfaction']
    """
    logs, epochs = _read(history)
    known = [name for name, values in logs.items() if not _is_other(name, logs) and _is_truth(values)]
    # A value that is not a number counts as the worst, so that it is seen.
    last = {name: float(np.nan_to_num(logs[name][-1], nan=-1.0)) for name in known}
    chosen = _choose_names(known, axioms)
    names = sorted(known, key=lambda name: last[name])[:_MOST] if axioms is None else chosen
    others = [name for name in chosen if name not in names]
    columns = 1 + len(names) // 21
    figure = picture(6.2 + 2.4 * columns, 4.8)
    axes = figure.add_subplot()
    for name in others:
        axes.plot(_places(epochs, len(logs[name])), logs[name], label=name, clip_on=False, **_GREY)
    looks = _looks(known, names)
    lines = [(name, _draw(axes, logs, epochs, name, **looks[name])) for name in names]
    lines.sort(key=lambda line: -last[line[0]])
    # The others lie on it: the line of a lone axiom is that of the satisfaction.
    thick: dict[str, Any] = {"color": ink(), "linewidth": 4.4, "markersize": 10.0, "zorder": 2.0}
    lines.insert(0, ("satisfaction", _draw(axes, logs, epochs, "satisfaction", **thick)))
    handles = [line for _, line in lines]
    labels = [f"{shorten(name, 30)}  {logs[name][-1]:.2f}" for name, _ in lines]
    if others:
        handles.append(Line2D([], [], **_GREY | {"linewidth": 1.2}))
        labels.append(count_in_words(len(others), "other axiom"))
    if any(f"val_{name}" in logs for name, _ in lines):
        handles.append(Line2D([], [], color="grey", linestyle="--"))
        labels.append("validation")
    add_legend(figure, handles, labels, loc="outside right upper", ncols=columns, fontsize=9)
    add_title(axes, "Satisfaction during training")
    axes.set(xlabel="epoch", ylabel="truth", ylim=(0.0, 1.0))
    if len(epochs) > 1:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    else:
        axes.set_xticks(epochs)
    axes.margins(x=0.02)
    axes.grid(alpha=0.3)
    return figure


def _read(history: Any) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The logs by name, and the numbers of the epochs."""
    logs = getattr(history, "history", history)
    if not isinstance(logs, Mapping):
        raise LogicTypeError(
            f"`history` is what theory.fit returned, or its `.history`; got a {type(history).__name__}."
        )
    if not np.size(logs.get("satisfaction", ())):
        raise LogicValueError(
            "The history of a theory holds its 'satisfaction' in each epoch; this one holds: "
            f"{', '.join(map(str, logs)) or 'nothing'}. Pass what theory.fit returned."
        )
    try:
        found = {str(name): np.asarray(values, float) for name, values in logs.items()}
        count = len(found["satisfaction"])
    except (TypeError, ValueError) as error:
        raise LogicTypeError(f"A history holds a number for each epoch; got {logs!r:.200}.") from error
    epochs = np.asarray(getattr(history, "epoch", range(count))) + 1
    return found, epochs


def _choose_names(known: list[str], axioms: str | Sequence[str] | None) -> list[str]:
    if axioms is not None and not isinstance(axioms, str | Sequence):
        raise LogicTypeError(f"`axioms` are names of axioms; got a {type(axioms).__name__}: {axioms!r}.")
    chosen = known if axioms is None else [axioms] if isinstance(axioms, str) else list(axioms)
    for name in chosen:
        if name not in known:
            close = difflib.get_close_matches(str(name), known, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"they are: {', '.join(known) or 'none'}."
            raise LogicValueError(f"The history has no axiom {name!r}; {hint}")
    return chosen


def _looks(known: list[str], names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Colour and mark of axioms, by their place among all, so that each looks the same in every picture.

    Of a theory with more axioms than there are looks, two in one picture may have one place: the second
    keeps its colour, and gets another mark.
    """
    taken: dict[str, tuple[int, int]] = {}
    for name in names:
        place, colour = divmod(known.index(name), len(COLOURS))
        marks = [(place + step) % len(_MARKERS) for step in range(len(_MARKERS))]
        free = [mark for mark in marks if (colour, mark) not in taken.values()]
        taken[name] = colour, (free or marks)[0]
    return {
        name: {"color": COLOURS[colour], "marker": _MARKERS[mark], "linewidth": 1.4, "zorder": 2.5}
        for name, (colour, mark) in taken.items()
    }


def _is_other(name: str, logs: Mapping[str, Any]) -> bool:
    return name in _NO_AXIOMS or (name.startswith("val_") and name.removeprefix("val_") in logs)


def _is_truth(values: np.ndarray) -> bool:
    known = values[np.isfinite(values)]
    return bool(values.size and np.all((known >= -1e-6) & (known <= 1.0 + 1e-6)))


def _draw(axes: Any, logs: Mapping[str, np.ndarray], epochs: np.ndarray, name: str, **style: Any) -> Line2D:
    """Draw a curve, and its validation if there is one; returns the former."""
    values = logs[name]
    single = len(values) == 1
    # Unclipped, so that a thick line along 0 or 1 is seen whole.
    style = {"markersize": 5.0, "clip_on": False, "markevery": max(1, len(values) // 8)} | style
    style["marker"] = style.get("marker") or ("o" if single else "")
    [line] = axes.plot(_places(epochs, len(values)), values, label=name, **style)
    # A rim sets a curve off from one that it lies on.
    rim = matplotlib.rcParams["axes.facecolor"]
    line.set_path_effects([withStroke(linewidth=style["linewidth"] + 1.2, foreground=rim)])
    if f"val_{name}" in logs:
        measured = logs[f"val_{name}"]
        label = f"validation of {name}"
        # Thinner, so that it shows beside a curve close to it.
        style |= {"linestyle": "--", "linewidth": 0.6 * style["linewidth"]}
        axes.plot(_places(epochs, len(measured)), measured, label=label, **style)
    return line


def _places(epochs: np.ndarray, count: int) -> np.ndarray:
    """The epochs of some values; fewer values than epochs count as measured at regular times."""
    step = max(1, len(epochs) // max(1, count))
    return epochs[step - 1 :: step][:count]
