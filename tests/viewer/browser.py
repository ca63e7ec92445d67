"""A real Chromium without a window, driven through chromedriver's HTTP interface (WebDriver)."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")

_ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
]
_PATIENCE = 60  # seconds for anything to happen; machines under test are busy


class Browser:
    """One window."""

    def __init__(self, folder: Path, width: int = 1280, height: int = 900):
        assert CHROMIUM is not None
        assert DRIVER is not None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        home = os.environ | {"HOME": str(folder)}
        self._driver = subprocess.Popen(
            [DRIVER, f"--port={port}", "--silent"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=home,
        )
        self._url = f"http://127.0.0.1:{port}"
        self.wait_for(self._is_ready, "chromedriver to start")
        options = {
            "binary": CHROMIUM,
            "args": [
                *_ARGUMENTS,
                f"--user-data-dir={folder / 'profile'}",
                f"--window-size={width},{height}",
            ],
        }
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
        }
        session = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._url += f"/session/{session['sessionId']}"

    def close(self) -> None:
        """End the browser and its driver."""
        try:
            self._ask("DELETE", "")
        finally:
            self._driver.terminate()
            self._driver.wait()

    def open(self, url: str) -> None:
        """Load a page, anew even where only what follows the # differs."""
        self._ask("POST", "/url", {"url": "about:blank"})
        self._ask("POST", "/url", {"url": url})

    def run(self, script: str, *arguments: Any) -> Any:
        """The value of a JavaScript function's body."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def resize(self, width: int, height: int) -> None:
        """Change the size of the window."""
        self._ask("POST", "/window/rect", {"width": width, "height": height})

    def press(self, key: str) -> None:
        """Press and release a key; what has the focus gets it."""
        strokes = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        keyboard = {"type": "key", "id": "keyboard", "actions": strokes}
        self._ask("POST", "/actions", {"actions": [keyboard]})

    def point_at(self, x: float, y: float) -> None:
        """Move the mouse."""
        move = {"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0}
        mouse = {"type": "pointer", "id": "mouse", "actions": [move]}
        self._ask("POST", "/actions", {"actions": [mouse]})

    def picture(self) -> bytes:
        """The window as a PNG."""
        return base64.b64decode(self._ask("GET", "/screenshot"))

    def console(self) -> list[str]:
        """What has been written to the console since the last call."""
        entries = self._ask("POST", "/se/log", {"type": "browser"})
        return [f"{entry['level']}: {entry['message']}" for entry in entries]

    def wait_for(self, condition: Callable[[], Any], what: str) -> Any:
        """Ask again and again until something is true."""
        end = time.monotonic() + _PATIENCE
        while not (value := condition()):
            assert time.monotonic() < end, f"waited in vain for {what}"
            time.sleep(0.05)
        return value

    def _is_ready(self) -> bool:
        try:
            return bool(self._ask("GET", "/status")["ready"])
        except urllib.error.URLError:
            return False

    def _ask(self, method: str, path: str, value: Any = None) -> Any:
        body = None if value is None else json.dumps(value).encode()
        request = urllib.request.Request(self._url + path, body, method=method)
        request.add_header("Content-Type", "application/json")
        # The driver is on this machine: a proxy of the environment must not be asked.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=2 * _PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.read().decode()[:500]}") from error
