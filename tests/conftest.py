"""Settings for every test, made before JAX and MuJoCo are imported."""

from __future__ import annotations

import atexit
import os
import random
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from hess import runtime
from hess.cli.doctor import rendering_problem


def share_caches() -> None:
    """One place for what is compiled, for all workers and for the programs that tests start.

    It stays for the next run of the tests, and a home that is missing, read-only or shared does
    not matter. Workers of xdist inherit the choice.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    folder = Path(__file__).parent.parent / ".pytest_cache" / "compiled"
    if runtime.cache_problem(folder) is not None:  # somebody else's checkout
        folder = Path(tempfile.mkdtemp(prefix="hess-tests-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["XDG_CACHE_HOME"] = str(folder)
    os.environ["MPLCONFIGDIR"] = str(folder / "matplotlib")
    # Most of what tests compile is small, but there are thousands of them.
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"


share_caches()
# Under xdist the workers share the machine: one XLA thread each keeps them off each other's cores.
runtime.configure(threads=1 if "PYTEST_XDIST_WORKER" in os.environ else None)

# The same examples on every machine and every day; no deadline, since CI machines stall.
hypothesis.settings.register_profile("hess", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("hess")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shuffle",
        type=int,
        metavar="SEED",
        help="files in another order, and the tests of each: none may need another",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed: int | None = config.getoption("--shuffle")
    if seed is None:
        return
    rng = random.Random(seed)  # the same in every worker, which xdist insists on
    files = sorted({item.path for item in items})
    order = dict(zip(files, rng.sample(range(len(files)), len(files)), strict=True))
    rng.shuffle(items)
    items.sort(key=lambda item: order[item.path])


@pytest.fixture(scope="session", autouse=True)
def signals() -> Iterator[None]:
    """Signals do here, and in the programs that tests start, what they do in a terminal.

    `nohup`, cron and a script's background leave some ignored, which every child would inherit.
    """
    usual = {signal.SIGINT: signal.default_int_handler} | dict.fromkeys(
        (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT), signal.SIG_DFL
    )
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def rendering() -> None:
    """Skip where MuJoCo cannot draw."""
    problem = rendering_problem()
    if problem is not None:
        pytest.skip(f"MuJoCo cannot draw here: {problem}; {runtime.rendering_advice()}")
