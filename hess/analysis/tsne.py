"""t-SNE (van der Maaten and Hinton 2008), exact: latent states of many dimensions on paper."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

MOST_POINTS = 1_000  # every pair counts in every iteration
_PERPLEXITY = 30.0  # neighbours that a point has, about
_ITERATIONS = 500
_EXAGGERATED = 125  # iterations in which clusters are pulled together
_EXAGGERATION = 12.0
_HALVINGS = 40  # of the interval in which a point's bandwidth is searched
_TINY = 1e-12


def embed_in_plane(points: Floats, seed: int = 0) -> Floats:
    """Points that are near each other stay near each other. [n, d] -> [n, 2].

    It starts from the two principal components, so that the coarse order survives, with a little
    noise that tells equal points apart.
    """
    count = len(points)
    if not 3 <= count <= MOST_POINTS:
        raise ValueError(f"{count} points; 3 to {MOST_POINTS} can be embedded")
    centred = np.asarray(points, np.float64) - np.mean(points, axis=0, dtype=np.float64)
    wanted = joint_probabilities(squared_distances(centred), min(_PERPLEXITY, (count - 1) / 3))
    places = _start(centred, np.random.default_rng(seed))
    speed, gains = np.zeros_like(places), np.ones_like(places)
    rate = max(count / _EXAGGERATION / 4, 50.0)
    for iteration in range(_ITERATIONS):
        early = iteration < _EXAGGERATED
        slope = gradient(places, _EXAGGERATION * wanted if early else wanted)
        # Steps grow along a coordinate that keeps its direction, and shrink where it swings.
        gains = np.where(np.sign(slope) == np.sign(speed), gains * 0.8, gains + 0.2).clip(0.01)
        speed = (0.5 if early else 0.8) * speed - rate * gains * slope
        places += speed
        places -= places.mean(0)
    return places


def squared_distances(points: Floats) -> Floats:
    """Between every pair. [n, d] -> [n, n]."""
    squares = (points**2).sum(1)
    distances = squares[:, None] + squares - 2.0 * points @ points.T
    np.fill_diagonal(distances, 0.0)
    return distances.clip(0.0)


def joint_probabilities(distances: Floats, perplexity: float) -> Floats:
    """How near each pair is: Gaussians of the given perplexity, made symmetric. [n, n], sum 1."""
    count = len(distances)
    # Relative to the nearest neighbour, or the exponentials of far points would all be 0.
    apart = distances + np.diag(np.full(count, np.inf))
    apart -= apart.min(1, keepdims=True)
    wanted = np.log(perplexity)
    spread = np.median(apart[np.isfinite(apart)]) + _TINY
    low, high = np.full((count, 1), -30.0), np.full((count, 1), 30.0)  # log of precision · spread
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        wide = _entropies(apart / spread, np.exp(middle)) > wanted
        low, high = np.where(wide, middle, low), np.where(wide, high, middle)
    rows = _neighbours(apart / spread, np.exp((low + high) / 2))
    return np.maximum((rows + rows.T) / (2 * count), _TINY)


def _neighbours(distances: Floats, precisions: Floats) -> Floats:
    weights = np.exp(-distances * precisions)
    return weights / weights.sum(1, keepdims=True)


def _entropies(distances: Floats, precisions: Floats) -> Floats:
    """Of every row's distribution over the others. [n, n], [n, 1] -> [n, 1]."""
    rows = _neighbours(distances, precisions)
    logarithms = np.log(rows, out=np.zeros_like(rows), where=rows > 0)
    return -(rows * logarithms).sum(1, keepdims=True)


def gradient(places: Floats, wanted: Floats) -> Floats:
    """Of the divergence of the plane's neighbourhoods from the wanted ones. [n, 2] -> [n, 2]."""
    near = 1.0 / (1.0 + squared_distances(places))
    np.fill_diagonal(near, 0.0)
    pull = (wanted - near / near.sum()) * near
    return 4.0 * (pull.sum(1)[:, None] * places - pull @ places)


def _start(centred: Floats, rng: np.random.Generator) -> Floats:
    _, _, rows = np.linalg.svd(centred, full_matrices=False)
    components = centred @ rows[:2].T
    # A component's sign is arbitrary; fixed here, so that the same data give the same picture.
    components *= np.sign(rows[:2, np.abs(rows[:2]).argmax(1)].diagonal())
    size = components[:, 0].std() + _TINY
    plane = np.zeros((len(centred), 2))
    plane[:, : components.shape[1]] = components / size
    return 1e-2 * plane + 1e-4 * rng.standard_normal(plane.shape)
