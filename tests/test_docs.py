"""Every command, example and link of the README and the docs works.

Commands run in the order of their page, in one new folder per page. Those that take long or change
the machine are replaced as the two tables say; nothing is left out. Pages that train for long are
slow tests; the others, one of which trains, and all checks of the text run every time.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hess.cli.doctor import rendering_problem

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
# These train, most of them at the published size.
LONG = (
    "README.md",
    "docs/environments.md",
    "docs/extending.md",
    "docs/methods.md",
    "docs/reproducing.md",
    "docs/scaling.md",
    "docs/seeing.md",
)

# command in the text -> what is run instead ({root} is the checkout)
INSTEAD = {
    "make train": "make --directory {root} --dry-run train",
    "make test": "make --directory {root} --dry-run test",
    "make test-slow": "make --directory {root} --dry-run test-slow",
    "make test-faults": "make --directory {root} --dry-run test-faults",
    "make test-envs": "make --directory {root} --dry-run test-envs",
    "make test-ray": "make --directory {root} --dry-run test-ray",
    "make test-all": "make --directory {root} --dry-run test-all",
    "make coverage": "make --directory {root} --dry-run coverage",
    "make results": "make --directory {root} --dry-run results",
    'make results RUNS="runs/AntMaze/hess/seed-*"': "make --directory {root} --dry-run results",
    "make bench": "make --directory {root} --dry-run bench",
    "make docs-check": "make --directory {root} --dry-run docs-check",
    "make format": "make --directory {root} --dry-run format",
    "make lock": "make --directory {root} --dry-run lock",
    "make help": "make --directory {root} help",
    "hess train PointMaze --seed 1 --steps 150000": "hess train PointMaze --seed 1 --steps 1000",
    "hess train PointMaze --method dads --seed 1": "hess train PointMaze --method dads --seed 1"
    " --steps 1000",
    "hess train corridor:Corridor-v0 --subgoal-interval 10 --steps 5000"
    " --representation.minibatches 500": "hess train corridor:Corridor-v0"
    " --subgoal-interval 10 --steps 500 --representation.minibatches 10",
    # What the extra [envs] brings has tests of its own.
    "hess train MountainCarContinuous-v0 --env goal_velocity=0.01 --success terminated"
    " --steps 100000": "hess train MountainCarContinuous-v0 --env goal_velocity=0.01"
    " --success terminated --steps 999",
    "hess train gymnasium_robotics:PointMaze_UMaze-v3 --env continuing_task=False": "hess train"
    " gymnasium:Pendulum-v1 --env g=5.0 --success 'reward>=-1' --steps 200",
    "hess train PointMaze --env random_goal=True reward=dense success_radius=1.0": "hess train"
    " PointMaze --env random_goal=True reward=dense success_radius=1.0 --steps 500",
    """MAP='[[1,1,1,1,1],[1,"r",0,0,1],[1,1,1,0,1],[1,"g",0,0,1],[1,1,1,1,1]]'; hess train"""
    ' gymnasium_robotics:PointMaze_UMaze-v3 --env maze_map="$MAP"': "MAP='[1, 2]'; hess train"
    ' PointMaze --env layout="$MAP" || test $? -eq 2',
    """MAP='[[1,1,1,1,1],[1,"r",0,0,1],[1,1,1,0,1],[1,"g",0,0,1],[1,1,1,1,1]]'; hess train"""
    ' gymnasium_robotics:AntMaze_UMaze-v5 --env maze_map="$MAP" frame_skip=20'
    " include_cfrc_ext_in_observation=False --action-share 0.15 --horizon 350"
    " --subgoal-interval 25 --steps 300000": "hess train AntMaze --env reward=sparse"
    " --action-share 0.15 --horizon 350 --subgoal-interval 25 --steps 350",
    "pip install .": "{python} -m pip install --dry-run --no-deps --no-build-isolation {root}",
    # Short ones, or only their plans; Ray has tests of its own.
    "hess sweep --methods hess lesson sac --tasks AntMaze PointMaze --seeds 5": "hess sweep"
    " --methods sac --seeds 1 --set steps=1000",
    "hess sweep --ray --methods hess sac --tasks AntMaze --seeds 5": "hess sweep --ray"
    " --methods hess sac --tasks AntMaze --seeds 5 --dry-run",
    "hess sweep --ray --ray-address 10.0.0.1:6379 --runs /shared/runs --methods hess"
    " --tasks AntMaze --seeds 20": "hess sweep --ray --ray-address 10.0.0.1:6379 --runs shared"
    " --methods hess --tasks AntMaze --seeds 20 --dry-run",
    "pip install '.[ray]'": "{python} -m pip install --dry-run --no-deps --no-build-isolation"
    " {root}",
    "hess reproduce fig4 --seeds 5": "hess reproduce fig4 --seeds 5 --dry-run",
    "hess reproduce fig16 --tasks PointMaze --seeds 1 --scale 0.02": "hess reproduce fig16"
    " --tasks PointMaze --seeds 1 --scale 0.004",
    "hess compare runs --format markdown": "hess compare runs-scale-0.004 --format markdown",
    "pre-commit install": "test -f {root}/.pre-commit-config.yaml",
}
# text in a Python example -> text that is run instead
PYTHON_INSTEAD = {"steps=150_000": "steps=1_000"}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    line: int
    text: str


def blocks(page: Path) -> Iterator[Block]:
    language: str | None = None
    start, lines = 0, list[str]()
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = re.match(r"\s*```(\w*)", line)
        if fence and language is None:
            language, start, lines = fence[1], number, []
        elif fence and language is not None:
            yield Block(language, start, "\n".join(lines))
            language = None
        else:
            lines.append(line)
    assert language is None, f"{page}:{start}: a block that does not end"


def commands(block: Block) -> Iterator[str]:
    """The command lines; in a console block those after a `$`, the rest is their output."""
    for line in block.text.replace("\\\n", " ").splitlines():
        command = re.sub(r"\s+#.*", "", line).strip()
        if block.language == "console":
            if command.startswith("$ "):
                yield command.removeprefix("$ ")
        elif command and not command.startswith("#"):
            yield command


def steps(page: Path) -> Iterator[tuple[str, list[str], bool]]:
    """Where it stands, what to run, and whether it draws."""
    places = {"root": shlex.quote(str(ROOT)), "python": shlex.quote(sys.executable)}
    for block in blocks(page):
        place = f"{name_of(page)}:{block.line}"
        if block.language in ("bash", "console"):
            for command in commands(block):
                run = INSTEAD.get(command, command).format(**places)
                draws = "hess render" in command or "--video" in command
                yield f"{place}: {command}", ["bash", "-euc", run], draws
        elif block.language == "python":
            code = block.text
            for text, instead in PYTHON_INSTEAD.items():
                code = code.replace(text, instead)
            yield f"{place}: Python example", [sys.executable, "-c", code], "render" in code


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


every_page = pytest.mark.parametrize("page", PAGES, ids=name_of)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] if name_of(page) in LONG else [])
        for page in PAGES
    ],
    ids=name_of,
)
def test_every_command_and_example_works(page: Path, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    cannot_draw: bool | None = None
    for place, command, draws in steps(page):
        if draws and cannot_draw is None:
            cannot_draw = rendering_problem() is not None
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        if draws and cannot_draw:
            assert done.returncode != 0, f"{place} draws without a library to draw with"
            assert "libegl1" in done.stderr, f"{place} does not say what to install\n{done.stderr}"
        else:
            assert done.returncode == 0, f"{place}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"


@every_page
def test_every_block_says_its_language(page: Path) -> None:
    known = {"bash", "console", "python", "text", "bibtex", "json"}
    wrong = [f"{page.name}:{b.line}" for b in blocks(page) if b.language not in known]
    assert not wrong, f"{wrong}: one of {sorted(known)} has to follow the backquotes"


@every_page
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)\s]+)\)", prose) + re.findall(r'(?:src|href)="([^"]+)"', prose)
    for target in targets:
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        linked = (page.parent / file).resolve() if file else page
        assert linked.exists(), f"{page.name}: {target} does not exist"
        assert linked.is_relative_to(ROOT), f"{page.name}: {target} leads out of the repository"
        if anchor:
            assert anchor in anchors(linked), f"{page.name}: {target} has no such heading"


@every_page
def test_every_file_of_ours_that_is_named_exists(page: Path) -> None:
    prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    named = re.findall(r"\b(?:hess|tests|tools|docs|examples)/[\w./-]+\.(?:py|cc|h|md)\b", prose)
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_index_has_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    pages = [page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")]
    missing = [str(page) for page in pages if page.name != "README.md" and f"({page})" not in index]
    assert not missing, f"not in docs/README.md: {missing}"


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def test_the_long_pages_are_there() -> None:
    assert set(LONG) <= {name_of(page) for page in PAGES}


def test_no_replacement_is_left_over() -> None:
    shell = [b for page in PAGES for b in blocks(page) if b.language in ("bash", "console")]
    used = {command for block in shell for command in commands(block)}
    examples = "\n".join(b.text for page in PAGES for b in blocks(page) if b.language == "python")
    unused = (INSTEAD.keys() - used) | {text for text in PYTHON_INSTEAD if text not in examples}
    assert not unused, f"in no page: {sorted(unused)}"
