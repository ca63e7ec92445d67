"""Our own code for processors with wider and with narrower vectors, compiled to run on this one."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from hess.native import library

FOLDER = Path(__file__).parent
FILES = ("test_matmul.py", "test_normalisation.py", "test_triplets.py", "test_adam.py")
FLAGS = {16: "-D__AVX512F__", 4: "-mno-avx"}  # floats in a vector; the compiler splits wide ones


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the flags are those of x86-64")
@pytest.mark.parametrize("lanes", FLAGS)
def test_vectors_of_another_width(lanes: int, tmp_path: Path) -> None:
    compiler = library.compile_command()[0]
    source = tmp_path / "width.cc"
    source.write_text(f'#include "vectors.h"\nstatic_assert(hess::kLanes == {lanes});\n')
    include = f"-I{Path(library.__file__).parent}"
    flags = [FLAGS[lanes], "-march=native", "-std=c++20", include]
    subprocess.run([compiler, *flags, "-c", source, "-o", tmp_path / "width.o"], check=True)
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *FILES],
        cwd=FOLDER,
        env=os.environ | {"CXX": f"{compiler} {FLAGS[lanes]}", "HESS_MATMUL": "own"},
        check=True,
    )
