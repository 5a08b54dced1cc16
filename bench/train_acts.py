"""``python -m bench.train_acts``: learn the acts reader's weights from our corpora, and write them into the package.

Logistic regression over several classes with AdaGrad and a fixed order, in nothing but sums, products, quotients and
square roots of doubles, which give the same on every machine; the exponential is our own for that reason. ``--check``
leaves each training file out in turn and prints how often the model alone reads it right.
"""

import hashlib
import json
import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import sqrt
from operator import add
from pathlib import Path

from bench import talk_acts
from bench.talk_acts import HeardMessage, parse
from sandbox_mcp.engine.talk.acts import Act
from sandbox_mcp.engine.talk.acts.model import CLASSES, UNIT, WEIGHTS, ActModel, features, stems
from sandbox_mcp.engine.talk.acts.reading import sentences

TRAINING = Path(__file__).resolve().parent / "corpora" / "training"
TARGET = Path(__file__).resolve().parent.parent / "sandbox_mcp" / "engine" / "talk" / "acts" / WEIGHTS
EPOCHS, RATE, DECAY, SEED = 12, 0.06, 0.0006, 21
DROPPED = 0.5
"""The share of a message's features that is left out, drawn anew each time, so that no few words decide alone."""
SETTLED = 0.01
"""What a message would still teach about a class is left out if it is less than this."""
SELDOM = 2
"""A feature of fewer messages teaches nothing."""
SAMPLED = 20
"""Of how many messages one tells whether the reader still sees what it saw."""
SMALLEST = 5
"""A feature none of whose weights reaches this is left out of the file."""
_CLASS = {"A": Act.ASKS, "G": Act.LEAVE, "N": Act.OFFERS, "K": Act.PROMISES, "X": Act.DELIVERS, "R": Act.UNREADABLE}


@dataclass(frozen=True, slots=True)
class Example:
    """A message as the reader sees it, and the class it is of."""

    source: str
    features: tuple[str, ...]
    label: int
    heard: HeardMessage


def examples(folder: Path = TRAINING, step: int = 1) -> list[Example]:
    """Every ``step``-th training message, but for those that are not to be read at all.

    Raises:
        ValueError: the data folder is missing, whose messages are learned from, too.
    """
    found: list[Example] = []
    for path in sorted(folder.glob("*.txt")):
        for heard in parse(path.read_text("utf-8").splitlines(), path.name)[::step]:
            if heard.acts != "r":
                seen = features(sentences(heard.text), stems(heard.words))
                found.append(Example(path.name, tuple(seen), CLASSES.index(_class_of(heard)), heard))
    return found


def _class_of(heard: HeardMessage) -> Act:
    """The class of a message by the behaviour that it asks for, in the order in which asking comes before ending."""
    if heard.acts == "S" and heard.wanted != frozenset("R"):
        return Act.SMALL
    act = _CLASS[next(letter for letter in "AGXNKR" if letter in heard.wanted)]
    return Act.GIVES_UP if act is Act.DELIVERS and "G" in heard.acts else act


def _exp(x: float) -> float:
    """The exponential of a number that is at most 0, from products alone."""
    if x < -30.0:
        return 0.0
    value = 1.0 + x / 4096.0
    for _ in range(12):
        value *= value
    return value


def train(data: Sequence[Example]) -> ActModel:
    """Learn the weights."""
    count = len(CLASSES)
    weights: dict[str, list[float]] = {}
    squares: dict[str, list[float]] = {}
    often = Counter(name for example in data for name in example.features)
    named = [["", *(name for name in example.features if often[name] >= SELDOM)] for example in data]
    rows = [[weights.setdefault(name, [0.0] * count) for name in names] for names in named]
    past = [[squares.setdefault(name, [1e-6] * count) for name in names] for names in named]
    source = random.Random(SEED)
    order = list(range(len(data)))
    for _ in range(EPOCHS):
        source.shuffle(order)
        for place in order:
            shown = [0, *(n for n in range(1, len(rows[place])) if source.random() >= DROPPED)]
            mine = [rows[place][n] for n in shown]
            totals = [
                reduce(add, column, 0.0) for column in zip(*mine, strict=True)
            ]  # sum() rounds as its version does
            top = max(totals)
            odds = [_exp(total - top) for total in totals]
            whole = reduce(add, odds, 0.0)
            for k in range(count):
                slope = odds[k] / whole - (k == data[place].label)
                if -SETTLED < slope < SETTLED:
                    continue
                for row, n in zip(mine, shown, strict=True):
                    step = slope + DECAY * row[k]
                    square = past[place][n]
                    square[k] = seen = square[k] + step * step
                    row[k] -= RATE * step / sqrt(seen)
    whole_numbers = {name: [round(weight * UNIT) for weight in row] for name, row in weights.items()}
    bias = tuple(whole_numbers.pop(""))
    kept = {name: row for name, row in sorted(whole_numbers.items()) if max(map(abs, row)) >= SMALLEST}
    return ActModel(bias, kept)


def made_from(folder: Path = TRAINING) -> str:
    """The SHA-256 that tells weights that are not up to date: of all that is learnt from, of this script, and of how
    some of the messages are seen."""
    paths = (Path(__file__), *sorted(folder.glob("*.txt")))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in paths))
    for path in paths[1:]:
        for line in path.read_text("utf-8").splitlines()[::SAMPLED]:
            text = line.partition(" :: ")[2]
            if text and not text.startswith("@"):
                digest.update(repr(features(sentences(text), frozenset())).encode())
    return digest.hexdigest()


def written(model: ActModel) -> str:
    """The model as the text of its file, one feature a line."""
    rows = ",\n".join(
        f"{json.dumps(name)}:{json.dumps(list(row), separators=(',', ':'))}" for name, row in model.weights.items()
    )
    bias = json.dumps(list(model.bias), separators=(",", ":"))
    return f'{{"made_from":"{made_from()}","bias":{bias},"weights":{{\n{rows}\n}}}}\n'


def check(data: Sequence[Example]) -> None:
    """Leave each file out in turn."""
    print(f"  {'left out':28}{'n':>5}{'right':>8}")
    right = 0
    for name in sorted({example.source for example in data}):
        model = train([example for example in data if example.source != name])
        held = [example for example in data if example.source == name]
        hits = sum(model.best(example.features) is CLASSES[example.label] for example in held)
        right += hits
        print(f"  {name:28}{len(held):5}{hits / len(held):8.3f}")
    print(f"  {'all':28}{len(data):5}{right / len(data):8.3f}")


def main(arguments: Sequence[str]) -> None:
    """Check, or write the file."""
    if not talk_acts.DATA.is_dir():
        sys.exit(f"{talk_acts.DATA} is not there; set SANDBOX_MCP_DATA to the folder of data")
    data = examples()
    if "--check" in arguments:
        check(data)
        return
    TARGET.write_text(written(train(data)), "utf-8")
    print(f"{TARGET.name}: {len(data)} messages, {TARGET.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
