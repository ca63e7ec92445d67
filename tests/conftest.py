"""Settings for every test, made before JAX and MuJoCo are imported."""

from __future__ import annotations

import os

import hypothesis
import pytest

from hess import runtime
from hess.cli.doctor import rendering_problem

# Under xdist the workers share the machine: one XLA thread each keeps them off each other's cores.
runtime.configure(threads=1 if "PYTEST_XDIST_WORKER" in os.environ else None)

# The same examples on every machine and every day; no deadline, since CI machines stall.
hypothesis.settings.register_profile("hess", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("hess")


@pytest.fixture(scope="session")
def rendering() -> None:
    """Skip where MuJoCo cannot draw."""
    problem = rendering_problem()
    if problem is not None:
        pytest.skip(f"MuJoCo cannot draw here: {problem}; {runtime.rendering_advice()}")
