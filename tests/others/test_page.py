"""The page of environments that were tried is what the table beside it says."""

from __future__ import annotations

from tests.others import survey


def test_the_page_is_generated_from_the_table() -> None:
    assert survey.PAGE.read_text() == survey.page()


def test_what_was_refused_was_refused_in_a_sentence() -> None:
    refused = [row for row in survey.read_rows().values() if row.outcome == "refused"]
    assert refused
    for row in refused:
        assert row.task in row.sentence or "capacity" in row.sentence
        assert "\n" not in row.sentence
