"""One signal stops politely, a second one at once, an ignored one not at all."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from hess.training.interrupts import StopOnSignal


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_remembered_and_the_second_interrupts(number: signal.Signals) -> None:
    with StopOnSignal() as stop:
        requests = [stop.requested]
        signal.raise_signal(number)
        requests.append(stop.requested)
        assert requests == [False, True]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)


@pytest.fixture
def no_interrupts() -> Iterator[None]:
    """As in a script's background and under cron."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("no_interrupts")
def test_an_ignored_signal_stays_ignored_and_the_other_one_stops() -> None:
    with StopOnSignal() as stop:
        signal.raise_signal(signal.SIGINT)
        requests = [stop.requested]
        signal.raise_signal(signal.SIGTERM)
        requests.append(stop.requested)
        signal.raise_signal(signal.SIGINT)  # does not count as a second one either
    assert requests == [False, True]
    assert stop.signal == signal.SIGTERM
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_the_advice_names_what_works_here() -> None:
    with StopOnSignal() as stop:
        assert stop.advice == f"to stop: Ctrl-C or `kill {os.getpid()}` saves a checkpoint"


@pytest.mark.usefixtures("no_interrupts")
def test_the_advice_leaves_out_what_is_ignored() -> None:
    with StopOnSignal() as stop:
        assert stop.advice == f"to stop: `kill {os.getpid()}` saves a checkpoint"


def test_handlers_are_put_back_also_after_an_error() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(RuntimeError, match="inside"), StopOnSignal():
        raise RuntimeError("inside")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_in_another_thread_there_are_no_handlers() -> None:
    entered = []

    def run() -> None:
        with StopOnSignal() as stop:
            entered.append((stop.requested, stop.advice))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert entered == [(False, None)]
