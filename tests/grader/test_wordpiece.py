"""Word pieces by a vocabulary of a few words."""

from sandbox_grader.grading.wordpiece import WordPieces, words

from tests.each import each

PIECES = ("[UNK]", "[CLS]", "[SEP]", "un", "##believ", "##able", "believe", "cafe", "'", "s", ".", "日", "x", "##x")
SPLIT = WordPieces(PIECES)


def pieces(text: str, most: int = 256) -> str:
    """The pieces between start and end."""
    first, *inner, last = (PIECES[number] for number in SPLIT(text, most))
    assert (first, last) == ("[CLS]", "[SEP]")
    return " ".join(inner)


@each(
    ("text", "expected"),
    [
        ("unbelievable", "un ##believ ##able"),
        ("Un BELIEVE", "un believe"),
        ("unbelief", "[UNK]"),  # what is left, "ief", begins with no piece
        ("believe.", "believe ."),
        ("café's", "cafe ' s"),
        ("日日x", "日 日 x"),
        ("xxx", "x ##x ##x"),
        ("x" * 101, "[UNK]"),
        ("", ""),
    ],
)
def test_the_longest_pieces_first(text: str, expected: str):
    assert pieces(text) == expected


def test_what_is_too_long_is_cut_off():
    assert pieces("un " * 10, most=4) == "un un"


@each(
    ("text", "expected"),
    [
        ("Hello,  World!\t\n", ["hello", ",", "world", "!"]),
        ("a\u200bb\x00c\x85d", ["abcd"]),  # signs that nobody sees join what is beside them
        ("\u3000wide\u00a0space", ["wide", "space"]),
        ("ΑΣ", ["ασ"]),
        ("[SEP] $5", ["[", "sep", "]", "$", "5"]),
        ("한국 カタ", ["한국", "カタ"]),
    ],
)
def test_words_and_signs(text: str, expected: list[str]):
    import unicodedata

    assert list(words(text)) == [unicodedata.normalize("NFD", word) for word in expected]
