"""What a killed program runs: `hess`, with the agent of these tests beside the others.

HESS_TEST_SIGNAL="2,15 60" sends the program signals 2 and 15 when it has learned from 60 steps.
"""

from __future__ import annotations

import os
import sys

from hess.cli import main
from tests.faults import remembering
from tests.faults.runs import stop_at

if __name__ == "__main__":
    signals, _, step = os.environ.get("HESS_TEST_SIGNAL", "").partition(" ")
    numbers = map(int, signals.split(",")) if step else ()
    with remembering.registered(), stop_at(int(step or -1), *numbers):
        sys.exit(main())
