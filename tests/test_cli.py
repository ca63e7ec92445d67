"""The `hess` command: help, typing errors, exit codes, and the commands about tasks and machine."""

from __future__ import annotations

import doctest
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hess import cli, runtime
from hess.agents.methods import METHODS
from hess.cli import COMMANDS, Command, doctor, main, parse, sentence
from hess.cli.train import Train
from hess.envs import TASKS
from hess.errors import HessError
from hess.native import library

HEAVY = ("gymnasium", "jax", "matplotlib", "mujoco", "numpy", "rich.console")

all_commands = pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)


def run_hess(*arguments: str) -> subprocess.CompletedProcess[str]:
    """`hess` in its own process; the last line of stdout lists the heavy modules it imported."""
    code = (
        "import sys; from hess.cli import main\n"
        "try: code = main(sys.argv[1:])\n"
        "except SystemExit as leaving: code = leaving.code\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules]); sys.exit(code)"
    )
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line on stderr of a command that ends with exit code 2."""
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert len(lines) == 1
    return lines[0]


# --- help -----------------------------------------------------------------------------------


def test_help_shows_every_command_and_imports_nothing_heavy() -> None:
    done = run_hess("--help")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "[]"
    for command in COMMANDS:
        assert f"\n{command.group}:\n" in done.stdout
        assert f"\n  {command.name} " in done.stdout


@all_commands
def test_help_of_a_command_imports_nothing_heavy(command: Command) -> None:
    done = run_hess(command.name, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: hess {command.name} ")
    assert done.stdout.splitlines()[-1] == "[]"


@all_commands
def test_a_command_is_a_frozen_dataclass_with_a_summary(command: Command) -> None:
    loaded: Any = command.load()
    assert loaded.__dataclass_params__.frozen
    summary = (loaded.__doc__ or "").partition("\n")[0]
    assert summary.endswith(".")
    assert len(summary) < 90


def test_groups_stay_together() -> None:
    groups = [command.group for command in COMMANDS]
    assert len(set(groups)) == sum(a != b for a, b in zip(groups, [None, *groups], strict=False))


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("hess 0.")


def test_without_a_command_the_overview_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert capsys.readouterr().err == cli.overview() + "\n"


# --- typing errors ----------------------------------------------------------------------------


def test_unknown_command_names_the_closest(capsys: pytest.CaptureFixture[str]) -> None:
    error = error_of(capsys, "docter")
    assert error.startswith("hess: unknown command 'docter'; did you mean 'doctor'? commands: ")
    assert all(command.name in error for command in COMMANDS)


@all_commands
def test_unknown_flag_is_one_sentence(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    error = error_of(capsys, command.name, "--no-such-flag-anywhere")
    assert error.startswith("hess: ")
    assert f"hess {command.name} --help" in error


def test_mistyped_flag_names_the_closest(capsys: pytest.CaptureFixture[str]) -> None:
    error = error_of(capsys, "envs", "--imags")
    assert "unrecognized options: --imags; perhaps you meant: --images" in error


@dataclass(frozen=True)
class Example:
    """Something to parse."""

    count: int
    """How many."""
    kind: str = "plain"

    def run(self) -> None: ...


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--count", "many"], "--count"),
        ([], "--count INT"),
        (["--count", "1", "surplus"], "unrecognized options: surplus"),
    ],
)
def test_bad_values_are_one_sentence(arguments: list[str], expected: str) -> None:
    with pytest.raises(HessError) as caught:
        parse(Example, "hess example", arguments)
    message = str(caught.value)
    assert expected in message
    assert "hess example --help" in message
    assert not set("│╭╮╰╯─\n") & set(message)


def test_parses_flags() -> None:
    parsed = parse(Example, "hess example", ["--count", "3"])
    assert parsed == Example(count=3)


@pytest.mark.parametrize(
    "words",
    [
        "Maze-v0 --env a=1 b=2 --seed 3 --env c=4",
        "Maze-v0 --env a=1 --env=b=2 --seed 3 --env c=4",
        "--env=a=1 --env=b=2 --env=c=4 Maze-v0 --seed 3",
    ],
)
def test_arguments_of_the_environment_in_parts_are_all_kept(words: str) -> None:
    parsed = parse(Train, "hess train", words.split())
    assert (parsed.task, parsed.env, parsed.seed) == ("Maze-v0", ("a=1", "b=2", "c=4"), 3)


def test_the_last_of_two_layer_sizes_counts() -> None:
    parsed = parse(Train, "hess train", ["--low.hidden", "8", "8", "--low.hidden", "16"])
    assert parsed.low.hidden == (16,)


@dataclass(frozen=True)
class WithPresets:
    """A flag decides the defaults of others."""

    preset: str = "small"
    size: int = 1

    @classmethod
    def defaults(cls, arguments: Sequence[str]) -> WithPresets:
        return cls("large", size=100) if "large" in arguments else cls()


@pytest.mark.parametrize(
    ("arguments", "size"),
    [([], 1), (["--preset", "large"], 100), (["--size", "7", "--preset", "large"], 7)],
)
def test_defaults_may_depend_on_flags(arguments: list[str], size: int) -> None:
    assert parse(WithPresets, "hess example", arguments).size == size


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_boxes_of_both_kinds_become_sentences(encoding: str) -> None:
    box = "╭─ Bad ───────╮\n│ No --sed.    │\n│ ──────────── │\n│ Run x --help │\n╰──────────────╯"
    if encoding == "ascii":
        box = box.translate(str.maketrans("╭╮╰╯─│", "++++-|"))
    assert sentence(box) == "no --sed; run x --help"


def test_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(cli).failed == 0


# --- exit codes -------------------------------------------------------------------------------


def use(monkeypatch: pytest.MonkeyPatch, result: int | BaseException | None) -> None:
    """Make `hess example --count 1` end in a certain way."""

    def run(_: Example) -> int | None:
        if isinstance(result, BaseException):
            raise result
        return result

    monkeypatch.setattr(Example, "run", run)
    monkeypatch.setattr(Command, "load", lambda _: Example)
    monkeypatch.setattr(cli, "COMMANDS", (Command("example", "Group", "nowhere:Example"),))


@pytest.mark.parametrize(
    ("result", "code"),
    [(None, 0), (0, 0), (3, 3), (HessError("x"), 2), (KeyboardInterrupt(), 130)],
)
def test_exit_codes(
    monkeypatch: pytest.MonkeyPatch, result: int | BaseException | None, code: int
) -> None:
    use(monkeypatch, result)
    assert main(["example", "--count", "1"]) == code


def test_a_bug_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        main(["example", "--count", "1"])


def test_a_reader_that_leaves_early_is_no_error() -> None:
    program = "from hess.cli import main; raise SystemExit(main())"
    command = [sys.executable, "-c", program, "envs"]
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", '"$0" "$@" | head -c 1', *command],
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


# --- hess envs --------------------------------------------------------------------------------


def test_envs_shows_every_task_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["envs"]) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split() == ["id", "robot", "map", "horizon", "observation", "goal"]
    assert len(rows) == len(TASKS)
    for row, task in zip(rows, TASKS.values(), strict=True):
        for value in (task.id, task.robot, task.map, str(task.horizon), str(task.observation)):
            assert value in row


def test_envs_without_images(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["envs", "--no-images"]) == 0
    assert "Images" not in capsys.readouterr().out


# --- hess methods -----------------------------------------------------------------------------


def test_methods_shows_every_method(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods"]) == 0
    rows = capsys.readouterr().out.splitlines()[1:]
    assert {row.split()[0] for row in rows if not row.startswith(" ")} == set(METHODS)


# --- hess check-env ---------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["PointMaze", "hess/PointMaze-v0"])
def test_check_env_passes_our_tasks(task: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-env", task]) == 0
    *findings, empty, verdict = capsys.readouterr().out.splitlines()
    assert all(finding.startswith("ok    ") for finding in findings)
    assert (empty, verdict) == ("", f"HESS can train on {task}.")


def test_check_env_names_what_does_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-env", "CartPole-v1"]) == 2
    output = capsys.readouterr().out
    assert "bad   action bounds " in output
    assert "bad   success signal " in output
    assert output.endswith("HESS cannot train on CartPole-v1.\n")


def test_check_env_takes_arguments_and_what_success_is(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--env", "g=5.0", "--success", "reward>=-1", "--horizon", "50"]
    assert main(["check-env", "Pendulum-v1", *flags]) == 0
    output = capsys.readouterr().out
    assert "ok    success signal  a step with a reward of -1 or more" in output
    assert "ok    horizon         50 steps" in output


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["check-env", "Pendulum-v1", "--env", "gravity=5"], "Pendulum-v1 arguments: g"),
        (["check-env", "PointMaze", "--env", "random_gaol=1"], "did you mean 'random_goal'?"),
        (["render", "PointMaze", "--env", "reward", "--out", "x.png"], "write it as name=value"),
        (["render", "PointMaze", "--env", "rewad=1", "--out", "x.png"], "did you mean 'reward'?"),
        (["train", "PointMaze", "--env", "horizon=3"], "unknown PointMaze option 'horizon'"),
        (["train", "MountainCarContinuous-v0"], "never said whether it succeeded: info was empty"),
        (
            ["train", "PointMaze", "--success", "succes"],
            "never put 'succes' into info; did you mean",
        ),
        (["render", "PointMaze", "--out", "x.png", "--seed", "-1"], "seed=-1 is impossible"),
        (["train", "PointMaze", "--method", "no_such_module:x"], "cannot load the method"),
    ],
)
def test_bad_arguments_are_a_sentence(
    command: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert expected in error_of(capsys, *command)


def test_check_env_of_an_unknown_id_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean 'AntMaze'?" in error_of(capsys, "check-env", "hess/AntMase-v0")


# --- hess render ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["PointMaze"], "nothing to draw: give --out FILE.png, --video FILE.mp4, or both"),
        (["pointmase", "--out", "x.png"], "unknown task 'pointmase'; did you mean 'PointMaze'?"),
        (["PointMaze", "--out", "x.gif"], "cannot write 'x.gif': the name must end in .png"),
        (["no_module_of_this_name:X-v0", "--out", "x.png"], "no_module_of_this_name"),
    ],
)
def test_render_refuses_in_a_sentence(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert expected in error_of(capsys, "render", *arguments)


@pytest.mark.usefixtures("rendering")
def test_render_draws_picture_and_video(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture, video = tmp_path / "maze.png", tmp_path / "random.mp4"
    files = ["--out", str(picture), "--video", str(video)]
    assert main(["render", "PointMaze", *files, "--steps", "3"]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert b"ftyp" in video.read_bytes()[:16]
    assert capsys.readouterr().out == f"picture  {picture}\nvideo    {video}\n"


def test_a_module_beside_the_user_is_found(tmp_path: Path) -> None:
    (tmp_path / "my_module.py").write_text("raise ImportError('my_module was found')")
    done = subprocess.run(
        [Path(sys.executable).with_name("hess"), "render", "my_module:Mine-v0", "--out", "x.png"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "my_module was found" in done.stderr
    assert done.returncode == 2


# --- hess doctor ------------------------------------------------------------------------------


def test_doctor_finds_this_machine_fit(capsys: pytest.CaptureFixture[str]) -> None:
    library.is_loaded()  # compiled by now: on a busy machine that alone may take the doctor's time
    assert main(["doctor"]) == 0
    output = capsys.readouterr().out
    for subject in (
        "Python",
        "JAX",
        "MuJoCo",
        "rendering",
        "processor",
        "disk",
        "ffmpeg",
        *doctor.EXTRAS,
    ):
        assert f"  {subject} " in output
    assert output.endswith("HESS can train here.\n")


def test_doctor_says_what_to_do_where_something_is_broken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "run_python", lambda _, **__: ("", "ImportError: no such thing"))
    assert main(["doctor"]) == 2
    output = capsys.readouterr().out
    assert "bad   JAX           ImportError: no such thing\n" in output
    assert "pip install --force-reinstall jax" in output
    assert "note  rendering     " in output
    assert runtime.rendering_advice() in output


def test_no_drawing_is_no_obstacle_to_training(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "rendering_problem", lambda: "crashed with signal 11")
    monkeypatch.setattr(doctor, "CHECKS", (doctor.check_rendering,))
    assert main(["doctor"]) == 0
    assert "crashed with signal 11" in capsys.readouterr().out


def test_advice_about_the_cache_names_the_setting_that_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    for name in ("XDG_CACHE_HOME", "JAX_COMPILATION_CACHE_DIR"):
        monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
        monkeypatch.setenv(name, str(tmp_path / "file"))
        (finding,) = doctor.check_cache()
        assert "cannot write" in str(finding)
        assert f"set {name} to a folder of yours" in str(finding)


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("print(1)", None),
        ("import os; os.kill(os.getpid(), 11)", "crashed with signal 11"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit(3)", "exit code 3"),
    ],
)
def test_a_crash_in_a_check_is_a_finding(code: str, problem: str | None) -> None:
    assert doctor.run_python(code)[1] == problem


def test_doctor_knows_every_extra() -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
    assert {*doctor.EXTRAS, "dev"} == set(project["project"]["optional-dependencies"])


def test_ci_installs_the_libraries_that_doctor_names() -> None:
    root = Path(__file__).parent.parent
    for file in (".ci/run", ".github/workflows/test.yml"):
        assert " ".join(runtime.RENDERING_PACKAGES) in (root / file).read_text()
