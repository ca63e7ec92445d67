"""A file is complete or not there, whatever happens while it is written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hess.errors import HessError
from hess.files import read_json, write_atomic, write_json

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.parametrize("content", ["φ and λ₀\n", b"\x00\xff", ""])
def test_writes_text_and_bytes_and_missing_folders(tmp_path: Path, content: str | bytes) -> None:
    path = tmp_path / "new" / "folder" / "file"
    write_atomic(path, content)
    assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert path.stat().st_mode & 0o777 == 0o644
    assert os.listdir(path.parent) == ["file"]


def test_replaces_a_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomic(path, "old and longer")
    write_atomic(path, "new")
    assert path.read_text() == "new"


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failing_write_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    path = tmp_path / "file"
    write_atomic(path, "old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(HessError, match=r"cannot write '.*file': No space left on device"):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_that_cannot_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HessError, match=r"cannot write '.*file/below'"):
        write_atomic(tmp_path / "file" / "below", "")


@settings(max_examples=25)
@given(value=JSON_VALUES)
def test_json_comes_back_as_it_was(value: object, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("json") / "value.json"
    write_json(path, value)
    assert read_json(path) == value


@pytest.mark.parametrize("content", [None, "", "{", "\udcff"])
def test_a_missing_or_damaged_json_file_is_named(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "value.json"
    if content is not None:
        path.write_text(content, errors="surrogateescape")
    with pytest.raises(HessError, match=r"cannot read '.*value\.json': \S"):
        read_json(path)
