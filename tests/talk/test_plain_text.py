"""A message as plain text with its numbers in figures."""

import doctest
from importlib import import_module

import pytest

from sandbox_mcp.engine.talk.numbers import figured
from sandbox_mcp.engine.talk.text import plain, without_reasoning


@pytest.mark.parametrize("module", ["", ".text", ".numbers", ".clauses", ".deeds"])
def test_the_examples_are_so(module: str) -> None:
    failed, tried = doctest.testmod(import_module(f"sandbox_mcp.engine.talk{module}"))
    assert tried
    assert not failed


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("<think>\nIs it 8? No.\n</think>\nIt is 9.", "It is 9."),
        ("First I look.\n</think>\n\nIt is 9.", "It is 9."),
        ("It is 9.\n<think>Was that right?", "It is 9."),
        ("<Thinking>a</Thinking>It is <b>9</b>.", "It is <b>9</b>."),
        ("5 < 9 and 9 > 5", "5 < 9 and 9 > 5"),
    ],
)
def test_reasoning_is_no_part_of_what_was_said(message: str, said: str) -> None:
    assert without_reasoning(message) == said


def test_fenced_words_are_said_and_fenced_code_is_not() -> None:
    assert "9 km" in plain("```\n9 km\n```")
    assert "wifi_status" not in plain('```json\n{"tool": "set_wifi_status"}\n```\nDone.')


@pytest.mark.parametrize(
    ("spoken", "written"),
    [
        ("plus one, two two four, five five five, oh one nine oh", "+12245550190"),
        ("plus two seven, eight three, two double five, then six zeros", "+2783255000000"),
        ("N A one thirty", "NA130"),
        ("tessa at fennwood dot example", "tessa@fennwood.example"),
        ("four one seven nine", "4179"),
        ("nine one seven, five fifty-five, oh one eighty-eight", "9175550188"),
        ("half past seven", "7:30"),
        ("a quarter to eight", "7:45"),
        ("seven oh five", "7:05"),
        ("at eighteen fifteen", "at 18:15"),
        ("twelve minutes past six", "6:12"),
        ("one thousand two hundred and five dollars", "1205 dollars"),
        ("nineteen ninety-nine", "1999"),
        ("two and a half miles", "2.5 miles"),
        ("an hour and a quarter", "1.25 hours"),
        ("three quarters of an hour", "45 minutes"),
        ("six degrees below zero", "-6 degrees"),
        ("seventeen point four kilometers", "17.4 kilometers"),
        ("the third of May", "the 3th of May"),
        ("1.104,84 EUR", "1104.84 EUR"),
        ("3.5M dollars", "3500000 dollars"),
        ("one, two, three, four, five, six, seven", "one, 2, 3, 4, 5, 6, 7"),
        ("No one came, and the two of them left.", "No one came, and the two of them left."),
        ("the second time", "the second time"),
    ],
)
def test_numbers_are_in_figures(spoken: str, written: str) -> None:
    assert figured(spoken) == written
