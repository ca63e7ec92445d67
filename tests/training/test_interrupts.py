"""One signal stops politely, a second one at once."""

from __future__ import annotations

import signal
import threading

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


def test_handlers_are_put_back_also_after_an_error() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(RuntimeError, match="inside"), StopOnSignal():
        raise RuntimeError("inside")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_in_another_thread_there_are_no_handlers() -> None:
    entered = []

    def run() -> None:
        with StopOnSignal() as stop:
            entered.append(stop.requested)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert entered == [False]
