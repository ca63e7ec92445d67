"""Settings for every test, made before NumPy, JAX and MuJoCo are imported."""

from __future__ import annotations

import os

import hypothesis

from hess import runtime

# Under xdist the workers share the machine: one XLA thread each keeps them off each other's cores.
runtime.configure(threads=1 if "PYTEST_XDIST_WORKER" in os.environ else None)

# The same examples on every machine and every day; no deadline, since CI machines stall.
hypothesis.settings.register_profile("hess", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("hess")
