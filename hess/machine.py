"""What runs here: versions, machine and commit, as a run's metadata.json names them."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from hess.runtime import MATMUL, MATMUL_BEFORE, available_cores, cpu_model, version_of

_PACKAGES = ("jax", "jaxlib", "equinox", "optax", "numpy", "gymnasium", "mujoco", "safetensors")
_SETTINGS = (
    *(MATMUL, MATMUL_BEFORE, "JAX_PLATFORMS", "MUJOCO_GL", "NPROC"),
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "XLA_FLAGS"),
)


def describe() -> dict[str, Any]:
    """All of it; of JAX and of what multiplies matrices only where they are loaded already."""
    commit, dirty = _commit()
    jax, library = sys.modules.get("jax"), sys.modules.get("hess.native.library")
    return {
        "hess": version_of("hess"),
        "commit": commit,
        "dirty": dirty,
        "python": platform.python_version(),
        "packages": {name: version_of(name) for name in _PACKAGES},
        "platform": platform.platform(),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "affinity": available_cores(),
        "memory_gib": memory_gib(),
        "devices": [str(device) for device in jax.devices()] if jax else None,
        "products": library.kind() if jax and library else None,
        "settings": {name: os.environ[name] for name in _SETTINGS if name in os.environ},
    }


def machine_memory() -> int:
    """Physical memory in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def memory_gib() -> float:
    """The same, for people."""
    return round(machine_memory() / 2**30, 1)


def _commit() -> tuple[str | None, bool | None]:
    """The commit of the checkout that runs, and whether files differ from it; None outside one."""
    root = Path(__file__).resolve().parent.parent
    # Installed into somebody else's checkout, git would name that project's commit.
    if not (root / ".git").exists():
        return None, None
    commit = _git(root, "rev-parse", "HEAD")
    changes = _git(root, "status", "--porcelain", "--untracked-files=no")
    return commit, None if changes is None else bool(changes)


def _git(root: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None  # no git on this machine, or a checkout git refuses to read
    return done.stdout.strip()
