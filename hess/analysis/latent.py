"""Trajectories in a latent space of many dimensions, by t-SNE (the paper's Appendix D, FuN)."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hess.analysis import maps, style
from hess.analysis.explored import moments, start_to_end_bar, steps_text
from hess.arrays import Floats
from hess.errors import MissingExtraError
from hess.runs.run import NothingToDrawError, Run
from hess.runs.snapshots import Snapshot, Trajectory

_POINTS = 600  # of all trajectories together: enough to see, and seconds to embed
_MANY = 4  # dimensions: of fewer, a plane shows most
_EPISODES = 5  # more of them hide each other


@style.styled
def latent_trajectories(run: Run) -> Figure:
    """The newest trajectories in the plane and, by t-SNE, in the latent space; start to end."""
    *_, step = moments(run)
    newest = newest_trajectories(run.snapshot(step))
    if not newest:
        raise NothingToDrawError(f"the newest episodes of {run.title} are too short")
    dim = newest[0].embeddings.shape[1]
    if dim < _MANY:
        how = "as it is" if dim <= 2 else "along the two widest"
        raise NothingToDrawError(
            f"the latent space of {run.title} has {dim} dimensions; `representation` shows it {how}"
        )
    stride = stride_of(newest)
    figure = style.new_figure(7.2, 3.6)
    plane, space = figure.subplots(1, 2)
    positions = [each.positions[::stride] for each in newest]
    for path in positions:
        maps.start_to_end_path(plane, path)
    maps.draw_plan(plane, run.plan, np.concatenate(positions))
    plane.set_title("in the plane")
    _draw_space(space, [each.embeddings[::stride] for each in newest])
    space.set_title("latent, t-SNE")
    start_to_end_bar(figure, [plane, space])
    what = f"the newest trajectories at {steps_text(step)}, latent in {dim} dimensions"
    style.add_title(figure, f"{run.title}: {what}")
    return figure


def newest_trajectories(snapshot: Snapshot) -> list[Trajectory]:
    """The ones that are drawn."""
    return [each for each in snapshot.trajectories if len(each.positions) > 1][-_EPISODES:]


def stride_of(trajectories: list[Trajectory]) -> int:
    """Every which state is drawn, so that all together are few enough."""
    return max(-(-sum(len(each.positions) for each in trajectories) // _POINTS), 1)


def _draw_space(axes: Axes, embeddings: list[Floats]) -> None:
    ends = np.cumsum([len(each) for each in embeddings])[:-1]
    places = embed_in_plane(np.concatenate(embeddings))
    for path in np.split(places, ends):
        maps.start_to_end_path(axes, path)
    maps.frame(axes, places)
    axes.set_aspect("equal")
    axes.set(xlabel="t-SNE, 1st", ylabel="t-SNE, 2nd", xticks=[], yticks=[])


def embed_in_plane(points: Floats) -> Floats:
    """Points that are near each other stay near each other, by t-SNE. [n, d] -> [n, 2]."""
    try:
        from sklearn.manifold import TSNE
    except ImportError as error:
        raise MissingExtraError("the latent figure", "scikit-learn", "tsne") from error
    neighbours = min(30.0, (len(points) - 1) / 3)
    # From the principal components on, so that the coarse order survives; equal points have none.
    start = "pca" if points.std() > 0 else "random"
    method = TSNE(perplexity=neighbours, init=start, random_state=0)
    return method.fit_transform(points)
