"""Learning curves."""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from hess.files import write_atomic
from hess.training.folder import RunFolder
from hess.training.records import read_evaluations

mpl.use("Agg")  # figures are files; no window system is needed


def draw_curve(folder: RunFolder) -> None:
    """Success in evaluation and in training over environment steps, as a PNG."""
    config = folder.read_config()
    columns = read_evaluations(folder)
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    steps = [step / 1e6 for step in columns["step"]]
    axes.plot(steps, columns["success_rate"], marker="o", color="#0072B2", label="evaluation")
    axes.plot(steps, columns["train_success"], color="#E69F00", label="training")
    axes.set(
        xlabel="environment steps (millions)",
        ylabel="success rate",
        ylim=(-0.03, 1.03),
        title=f"{config.method} on {config.task}, seed {config.seed}",
    )
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, loc="upper left")
    save_figure(figure, folder.curve_file)


def save_figure(figure: Figure, path: Any) -> None:
    """Write a figure as a PNG, all at once."""
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=150)
    write_atomic(path, content.getvalue())
