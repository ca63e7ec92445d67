"""What metadata.json says of versions, machine and commit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hess import machine


def test_describes_versions_and_machine() -> None:
    description = json.loads(json.dumps(machine.describe()))
    assert description["hess"]
    assert all(description["packages"].values())
    assert description["cores"] >= len(description["affinity"]) >= 1
    assert description["memory_gib"] > 0
    private = {os.path.expanduser("~"), sys.prefix, os.getcwd()} - {"/"}
    assert not [folder for folder in private if folder in json.dumps(description)]


def test_names_no_commit_outside_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "__file__", str(tmp_path / "hess" / "machine.py"))
    description = machine.describe()
    assert description["commit"] is None
    assert description["dirty"] is None


def test_names_commit_and_changes_in_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", "-C", str(tmp_path), *identity, *arguments], check=True)

    git("init", "--quiet")
    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("commit", "--quiet", "--message", "one")
    monkeypatch.setattr(machine, "__file__", str(tmp_path / "hess" / "machine.py"))
    clean = machine.describe()
    (tmp_path / "file").write_text("two")
    changed = machine.describe()
    assert len(clean["commit"]) == 40
    assert (clean["dirty"], changed["dirty"]) == (False, True)
