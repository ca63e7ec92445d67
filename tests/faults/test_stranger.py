"""A run folder from a stranger: whatever is in it, the worst is a refusal with a sentence."""

from __future__ import annotations

import dataclasses
import json
import os
import pickle  # noqa: TID251 (to show that nobody reads it)
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file

import hess
from hess.agents.methods import METHODS
from hess.config import Config, override
from hess.errors import HessError
from hess.files import digest, read_sealed, write_sealed
from hess.runs.folder import RunFolder
from hess.runs.manifest import checkpoint_folders
from hess.runs.tensors import pack
from hess.training.display import PlainDisplay
from hess.training.trainer import Trainer
from tests.faults.runs import TASK, stop_at, tiny_config, train
from tests.faults.tiny_tasks import HORIZON


def small_config(method: str) -> Config:
    return tiny_config(
        method=method,
        record__tensorboard=False,
        record__checkpoint_interval=10**6,
        representation__first_update=2,
    )


def open_folder(path: Path, method: str) -> None:
    """All that is ever read of a run folder: to use its agent, and to go on training."""
    config = small_config(method)
    hess.load(path, warn=lambda _: None, task=config.task)
    trainer = Trainer(config, RunFolder(path), PlainDisplay(config.steps))
    try:
        trainer._begin()
    finally:
        trainer._collector.close()
        trainer._evaluator.close()


# --- forging: change anything, and make every digest fit ------------------------------------


def forge_manifest(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    manifest = checkpoint_folders(path)[-1] / "manifest.json"
    values = read_sealed(manifest)
    change(values)
    write_sealed(manifest, values)


def forge_state(path: Path, content: bytes) -> None:
    folder = checkpoint_folders(path)[-1]
    (folder / f"state-{digest(content)}.safetensors").write_bytes(content)
    state = {"size": len(content), "digest": digest(content)}
    forge_manifest(path, lambda values: values.update(state=state))


def forge_episodes(path: Path, content: bytes) -> None:
    def change(values: dict[str, Any]) -> None:
        file = values["episodes"][-1]
        file |= {"size": len(content), "digest": digest(content)}
        name = f"{file['first']:08d}-{file['last']:08d}-{file['digest']}.safetensors"
        (path / "replay" / name).write_bytes(content)

    forge_manifest(path, change)


def state_arrays(path: Path) -> dict[str, Any]:
    return dict(load_file(next(checkpoint_folders(path)[-1].glob("state-*"))))


def episode_arrays(path: Path) -> dict[str, Any]:
    return dict(load_file(sorted((path / "replay").iterdir())[-1]))


# --- what to change it to -------------------------------------------------------------------

NUMBERS = (
    st.integers(-3, 300)
    | st.sampled_from([2**31, 2**53 - 1, 2**63, -(2**63), 10**400])
    | st.floats()
)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=5) | st.just("tiny:Env-v0"),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
DTYPES = st.sampled_from(["f4", "f8", "i4", "i8", "u1", "?", "f2"])
SHAPES = st.lists(st.integers(0, 4), max_size=3).map(tuple)


def places(values: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value inside of a value."""
    items = values.items() if isinstance(values, dict) else enumerate(values)
    found = []
    for key, value in items:
        found.append((*prefix, key))
        if isinstance(value, dict | list):
            found += places(value, (*prefix, key))
    return found


def mangled(draw: Any, content: bytes) -> bytes:
    """Bytes with a piece replaced by other bytes."""
    start = draw(st.integers(0, len(content)))
    end = draw(st.integers(start, min(len(content), start + 40)))
    tail = b"" if draw(st.booleans()) else content[end:]
    return content[:start] + draw(st.binary(max_size=20)) + tail


def mangle_json(draw: Any, values: dict[str, Any]) -> None:
    """Replace, remove or add something somewhere."""
    place = draw(st.sampled_from(places(values)))
    inner: Any = values
    for key in place[:-1]:
        inner = inner[key]
    if draw(st.integers(0, 4)):
        inner[place[-1]] = draw(JSON)
    elif isinstance(inner, dict) and draw(st.booleans()):
        inner[draw(st.text(max_size=3))] = draw(JSON)
    else:
        del inner[place[-1]]


def mangled_arrays(draw: Any, arrays: dict[str, Any]) -> dict[str, Any]:
    name = draw(st.sampled_from(sorted(arrays)))
    how = draw(st.sampled_from(["other", "extreme", "gone", "longer", "renamed"]))
    array = arrays.pop(name)
    if how == "other":
        arrays[name] = np.full(draw(SHAPES), draw(st.integers(0, 3)), draw(DTYPES))
    elif how == "extreme":
        extremes = [-1, 0, 127, np.nan, np.inf, -np.inf, -(2.0**62), 2.0**40]
        with np.errstate(all="ignore"):
            arrays[name] = np.full_like(array, draw(st.sampled_from(extremes)))
    elif how == "longer":
        arrays[name] = np.concatenate([np.atleast_1d(array)] * draw(st.integers(2, 3)))
    elif how == "renamed":
        arrays[draw(st.text(max_size=4)) + name] = array
    return arrays


def mangled_header(draw: Any, content: bytes) -> bytes:
    """A safetensors file whose description of itself is wrong."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    mangle_json(draw, header)
    text = json.dumps(header).encode()
    announced = draw(st.just(len(text)) | st.integers(0, 2**64 - 1))
    return announced.to_bytes(8, "little") + text + content[8 + length :]


def mangle(draw: Any, path: Path) -> None:
    """One of all ways to spoil a run folder."""
    way = draw(st.sampled_from(["bytes", "manifest", "state", "episodes", "headers"]))
    if way == "bytes":
        files = sorted(file for file in path.rglob("*") if file.is_file())
        file = draw(st.sampled_from(files))
        file.write_bytes(mangled(draw, file.read_bytes()))
    elif way == "manifest":
        forge_manifest(path, lambda values: mangle_json(draw, values))
    elif way == "state":
        forge_state(path, pack(mangled_arrays(draw, state_arrays(path))))
    elif way == "episodes":
        forge_episodes(path, pack(mangled_arrays(draw, episode_arrays(path))))
    else:
        forge = draw(st.sampled_from([forge_state, forge_episodes]))
        folder = checkpoint_folders(path)[-1] if forge is forge_state else path / "replay"
        content = sorted(folder.glob("*.safetensors"))[-1].read_bytes()
        forge(path, mangled_header(draw, content))


def small_run(method: str, runs: Path) -> Path:
    """A run folder with one checkpoint."""
    with stop_at(5 * HORIZON):
        return train(small_config(method), runs).path


@pytest.fixture(scope="package")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run("remembering", tmp_path_factory.mktemp("honest"))


def attack(folder: Path, method: str, draw: Any) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "run"
        shutil.copytree(folder, path)
        mangle(draw, path)
        try:
            open_folder(path, method)
        except HessError as error:
            assert str(error)  # noqa: PT017 (a refusal and a success are both fine)


_LENIENT = settings(suppress_health_check=list(HealthCheck))


@settings(_LENIENT, max_examples=150)
@given(data=st.data())
def test_a_forged_folder_is_read_or_refused(data: st.DataObject, honest: Path) -> None:
    attack(honest, "remembering", data.draw)


CASES = {"remembering": 9000, "hess": 800, "sac": 800}


@pytest.mark.faults
@pytest.mark.parametrize("method", CASES)
def test_ten_thousand_forged_folders_are_read_or_refused(
    method: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = small_run(method, tmp_path_factory.mktemp(method))

    @settings(_LENIENT, max_examples=CASES[method])
    @given(data=st.data())
    def fuzz(data: st.DataObject) -> None:
        attack(folder, method, data.draw)

    fuzz()


# --- attacks with a purpose -----------------------------------------------------------------


@pytest.fixture
def folder(honest: Path, tmp_path: Path) -> Path:
    shutil.copytree(honest, tmp_path / "run")
    return tmp_path / "run"


def test_an_honest_folder_opens(folder: Path) -> None:
    open_folder(folder, "remembering")


class Trap:
    """Leaves a mark when it is unpickled."""

    def __init__(self, mark: Path):
        self._mark = mark

    def __reduce__(self) -> Any:
        return (Path.touch, (self._mark,))


def test_nothing_is_unpickled(folder: Path, tmp_path: Path) -> None:
    trap = pickle.dumps(Trap(tmp_path / "mark"))
    for forge in (forge_state, forge_episodes):
        forge(folder, trap)
        with pytest.raises(HessError, match="is not a safetensors file"):
            open_folder(folder, "remembering")
    assert not (tmp_path / "mark").exists()


def test_a_module_is_imported_only_if_the_user_names_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    (tmp_path / "evil_module.py").write_text(f"open({str(mark)!r}, 'w')")
    monkeypatch.syspath_prepend(tmp_path)
    forge_manifest(folder, lambda values: values["config"].update(task="evil_module:Env-v0"))
    with pytest.raises(HessError, match=r"would import the module 'evil_module'.* --task evil_mod"):
        hess.load(folder)
    with pytest.raises(HessError, match="the run was trained on 'evil_module:Env-v0', not on"):
        hess.load(folder, task=TASK)
    assert "evil_module" not in sys.modules
    assert not mark.exists()


@pytest.mark.parametrize("name", ["metrics.jsonl", "eval.csv", "replay", "checkpoints", ".lock"])
def test_a_link_out_of_the_folder_is_refused(folder: Path, tmp_path: Path, name: str) -> None:
    (folder / name).rename(tmp_path / "outside")
    (folder / name).symlink_to(tmp_path / "outside")
    with pytest.raises(HessError, match=rf"{name}' is a symbolic link"):
        RunFolder(folder).lock()
    with pytest.raises(HessError, match=rf"{name}' is a symbolic link"):
        open_folder(folder, "remembering")


def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    for name in ("manifest.json", "state-*"):
        file = next(checkpoint_folders(folder)[-1].glob(name))
        file.unlink()
        os.mkfifo(file)
        with pytest.raises(HessError, match="no usable checkpoint"):
            open_folder(folder, "remembering")


def test_a_file_larger_than_any_run_could_write_is_not_read(folder: Path) -> None:
    state = next(checkpoint_folders(folder)[-1].glob("state-*"))
    os.truncate(state, 2**42)  # takes no space, but would take memory
    with pytest.raises(HessError, match=r"has 4,398,046,511,104 bytes, .* at most make sense"):
        open_folder(folder, "remembering")
    forge_manifest(folder, lambda values: values["state"].update(size=2**42))
    with pytest.raises(HessError, match=r"would have 4,398,046,511,104 bytes, at most .* fit"):
        open_folder(folder, "remembering")


@pytest.mark.parametrize(
    ("name", "group", "fields"),
    [
        ("remembering", "low", {"hidden": [10**9, 10**9]}),
        ("remembering", "low", {"hidden": [300_000]}),
        ("remembering", "low", {"hidden": [1] * 1000}),
        ("remembering", "representation", {"dim": 10**9, "start": "before"}),
        ("remembering", "fun", {"perception": [10**9, 10**9]}),
        ("sac", "low", {"hidden": [200_000]}),
        ("hess", "high", {"hidden": [5_000, 5_000]}),
        ("hess", "representation", {"hidden": [200_000, 200_000]}),
        ("h-icm", "intrinsic", {"hidden": [200_000]}),
        ("h-sr", "intrinsic", {"hidden": [200_000, 200_000]}),
        ("fun", "fun", {"worker_units": 300_000}),
        ("fun", "fun", {"goal_embedding": 10**9}),
        ("dads", "dads", {"experts": 10**9}),
    ],
)
def test_networks_larger_than_their_file_are_not_built(
    folder: Path, name: str, group: str, fields: Any
) -> None:
    forge_method(folder, name, group, fields)
    with pytest.raises(HessError, match=r"the config describes .* the checkpoint has .* bytes"):
        hess.load(folder, task=TASK)


@pytest.mark.parametrize("name", ["sac", "hess", "h-icm", "h-sr", "fun", "dads"])
def test_networks_as_large_as_their_file_are_built(folder: Path, name: str) -> None:
    forge_method(folder, name, "low", {})
    with pytest.raises(HessError, match="no usable checkpoint"):  # the file is still the other's
        hess.load(folder, warn=lambda _: None, task=TASK)


def forge_method(path: Path, method: str, group: str, fields: dict[str, Any]) -> None:
    """The run as one of another method, with a state as large as its networks usually are."""
    if method == "remembering":
        forge_manifest(path, lambda values: values["config"][group].update(fields))
        return
    config: Config = override(METHODS[method].apply(Config()), {"task": TASK, "method": method})
    config = override(config, {"subgoal_interval": 1})
    plain = json.loads(json.dumps(dataclasses.asdict(config)))
    plain[group] |= fields

    def change(values: dict[str, Any]) -> None:
        values["config"] = plain
        values["state"]["size"] = 10**7

    forge_manifest(path, change)


def test_deep_json_is_refused(folder: Path) -> None:
    manifest = checkpoint_folders(folder)[-1] / "manifest.json"
    manifest.write_text("[" * 10**6)
    with pytest.raises(HessError, match="no usable checkpoint"):
        open_folder(folder, "remembering")


def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(HessError, match=r"is not a run folder: it has no config.json"):
        hess.load(tmp_path)
