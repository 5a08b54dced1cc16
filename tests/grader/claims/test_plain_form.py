"""The plain form of a message, and that what is not tried in a text has nothing to find there."""

from collections.abc import Callable

from hypothesis import example, given, settings
from hypothesis import strategies as st
from sandbox_grader.claims import normal
from sandbox_grader.claims.normal import plain, table

WORDS = table(
    "a an the one of three twenty first twenty-first half quarter quarters hour hours miles kilo fortnight point "
    "o'clock 8 12:00 12 3.5 1,5 1.104,84 10k million hundred thousand noon midnight past to till before below above 0 "
    "freezing minus negative degrees °C € can't n't I'd p.m. e.g. Dr. no. J. _x_ (0) +44 ✓ 😀 – ’ ½ ﬁ é Cannot"
)

PARTS = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from((" ", " ", "", "-", "\n"))), max_size=12)
LETTERS = st.sampled_from((str, str.upper, str.title))


@settings(max_examples=300, deadline=None)
@example([("8", " "), ("o'clock", ""), ("work", "")], str)
@example([("twenty", ""), ("n't", "")], str.upper)
@given(PARTS, LETTERS)
def test_a_text_reads_the_same_beside_every_word_and_sign_that_is_looked_for(
    parts: list[tuple[str, str]], letters: Callable[[str], str]
):
    text = letters("".join(word + gap for word, gap in parts))
    every = " ; ".join(sorted({word for needed, _, _ in normal._WORDED for word in needed}))
    alone, beside = plain(f"{text}\n§\n"), plain(f"{text}\n§\n{every} ; _ ' 7 é")
    assert beside.partition("§")[0] == alone.partition("§")[0]
