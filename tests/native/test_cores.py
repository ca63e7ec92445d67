"""Products leave alone the cores that other threads keep busy."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from hess.native import library
from hess.native.cores import busy_core, change_busy

pytestmark = pytest.mark.skipif(
    not library.is_loaded(), reason=f"no products of our own here; {library.ADVICE}"
)


def test_a_core_is_busy_as_long_as_its_thread_computes() -> None:
    before = change_busy(0)
    with busy_core():
        with busy_core():
            assert change_busy(0) == before + 2
        assert change_busy(0) == before + 1
    assert change_busy(0) == before


def test_a_thread_that_fails_frees_its_core() -> None:
    before = change_busy(0)
    with pytest.raises(ZeroDivisionError), busy_core():
        _ = 1 / 0
    assert change_busy(0) == before


_WAKE_UPS = """
import json, pathlib
from hess import runtime
runtime.configure(threads=3)
import jax, jax.numpy as jnp
from hess.native.cores import change_busy
from hess.native.matmul import dense

def woken():
    "How often XLA's threads were woken so far."
    total = 0
    for status in pathlib.Path("/proc/self/task").glob("*/status"):
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        if "XLA" in fields["Name"]:
            total += int(fields["voluntary_ctxt_switches"])
    return total

operands = jnp.ones((256, 256)), jnp.ones((256, 256)), jnp.ones(256)
product = jax.jit(lambda *operands: dense(*operands, True))
product(*operands).block_until_ready()
counts = []
for busy in (0, 2):
    change_busy(busy)
    before = woken()
    for _ in range(300):
        product(*operands).block_until_ready()
    counts.append(woken() - before)
print(json.dumps(counts))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_products_stay_in_one_thread_while_all_other_cores_are_busy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WAKE_UPS], capture_output=True, text=True, check=True
    )
    free, busy = json.loads(done.stdout)
    assert free > 100
    assert busy < 30
