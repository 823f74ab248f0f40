"""What all pictures share: figures outside pyplot, the colours of truth, titles and legends."""

from __future__ import annotations

import io
from typing import Any

import matplotlib
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgb
from matplotlib.figure import Figure

from ltn.plot.texts import fit_text

# It comes with Matplotlib and has the signs of logic, which the font of the user's style may lack.
FONT = "DejaVu Sans"

UNKNOWN = "#bdbdbd"
# From false, red, over grey to true, blue: ColorBrewer's RdBu, which colour-blind readers tell apart.
TRUTH = LinearSegmentedColormap.from_list(
    "truth",
    ["#b2182b", "#d6604d", "#f4a582", "#fddbc7", "#eeeeee", "#d1e5f0", "#92c5de", "#4393c3", "#2166ac"],
).with_extremes(bad=UNKNOWN)

# Okabe and Ito's colours for colour-blind readers, without black and the yellow that white paper swallows,
# and two of Paul Tol's.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#999933")


class Picture(Figure):
    """A figure that pyplot does not know, and that notebooks show nevertheless."""

    def _repr_png_(self) -> bytes:
        # IPython knows how to show figures only once pyplot was imported.
        buffer = io.BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()


def picture(width: float, height: float, **options: Any) -> Picture:
    """An empty figure of a size in inches, whose parts make room for each other."""
    return Picture(figsize=(width, height), **{"layout": "constrained", **options})


def ink() -> str:
    """The colour of text and of what is drawn as strongly: black, unless the user's style is dark."""
    return str(matplotlib.rcParams["text.color"])


def colour(truth: float) -> Any:
    """The colour of a truth value; grey where it is not a number."""
    return TRUTH(truth) if truth == truth else UNKNOWN


def ink_on(truth: float) -> str:
    """The colour of text on the colour of a truth value."""
    red, green, blue = to_rgb(colour(truth))
    # The luminance by which the contrast of text is judged, simplified. By that measure black would win from
    # 0.18 on; on strong colours the eye prefers white for longer.
    return "black" if 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 > 0.25 else "white"


def add_title(axes: Any, text: str, width: int = 60) -> None:
    """Write a title, on several lines where it is long; a formula in it stays as it is written."""
    axes.set_title(fit_text(text, width, lines=4), family=FONT, fontsize=11, parse_math=False)


def add_legend(figure: Figure, handles: list[Any], labels: list[str], **options: Any) -> None:
    """Put a legend beside or below the data, never on them."""
    # Written afterwards, since Matplotlib leaves out a label that begins with an underscore.
    legend = figure.legend(handles, ["label"] * len(labels), frameon=False, **options)
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set(text=label, parse_math=False)


def add_note(figure: Figure, text: str, width: int = 90) -> None:
    """Write a note under the picture, small; nothing where there is nothing to say."""
    if text:
        # Not smaller than the space between its lines, or the parts of the picture touch it.
        note = figure.supxlabel(fit_text(text, width, lines=6), fontsize=8, color="grey", family=FONT)
        note.set_parse_math(False)


def add_truth_bar(figure: Figure, axes: Any, label: str = "truth") -> None:
    """Put a scale of the colours of truth beside the axes."""
    scale = ScalarMappable(Normalize(0.0, 1.0), TRUTH)
    # In a low picture their numbers would overlap.
    ticks = [0.0, 0.25, 0.5, 0.75, 1.0] if figure.get_figheight() > 3.5 else [0.0, 0.5, 1.0]
    figure.colorbar(scale, ax=axes, label=label, ticks=ticks, fraction=0.06, aspect=25)
