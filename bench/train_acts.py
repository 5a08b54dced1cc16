"""``python -m bench.train_acts``: learn the acts reader's weights from our corpora, and write them into the package.

Logistic regression over several classes with AdaGrad and a fixed order, in nothing but sums, products, quotients and
square roots of doubles, which give the same on every machine; the exponential is our own for that reason. ``--check``
leaves each training file out in turn and prints how the model, the rules and both read it.
"""

import hashlib
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import sqrt
from operator import add
from pathlib import Path

from bench.talk_acts import WISHES, HeardMessage, parse
from sandbox_mcp.play.users.acts import Act, wish_of
from sandbox_mcp.play.users.acts.model import CLASSES, UNIT, WEIGHTS, ActModel, features
from sandbox_mcp.play.users.acts.plain import sentences
from sandbox_mcp.play.users.acts.reading import CLASS_OF, combined
from sandbox_mcp.play.users.acts.rules import RuleReading, read_by_rules

TRAINING = Path(__file__).resolve().parent / "corpora" / "training"
TARGET = Path(__file__).resolve().parent.parent / "sandbox_mcp" / "play" / "users" / "acts" / WEIGHTS
EPOCHS, RATE, DECAY, SEED = 12, 0.06, 0.0006, 20
DROPPED = 0.5
"""The share of a message's features that is left out, drawn anew each time, so that no few words decide alone."""
SETTLED = 0.01
"""What a message would still teach about a class is left out if it is less than this."""
SAMPLED = 20
"""Of how many messages one tells whether the rules still read as they did."""
SMALLEST = 5
"""A feature none of whose weights reaches this is left out of the file."""
_CLASS = {"A": Act.ASKS, "G": Act.LEAVE, "N": Act.OFFERS, "K": Act.PROMISES, "X": Act.DELIVERS, "R": Act.UNREADABLE}


@dataclass(frozen=True, slots=True)
class Example:
    """A message as the reader sees it, and the class it is of."""

    source: str
    features: tuple[str, ...]
    rules: RuleReading
    label: int
    heard: HeardMessage


def examples(folder: Path = TRAINING, step: int = 1) -> list[Example]:
    """Every ``step``-th training message, but for those that are not to be read at all."""
    found: list[Example] = []
    for path in sorted(folder.glob("*.txt")):
        for heard in parse(path.read_text("utf-8").splitlines(), path.name)[::step]:
            if heard.acts == "r":
                continue
            wish, read = wish_of(WISHES[heard.wish].opening), sentences(heard.text)
            rules = read_by_rules(read, wish, heard.calls)
            kind = Act.SMALL if heard.acts == "S" and heard.wanted != frozenset("R") else _CLASS[_first(heard)]
            found.append(
                Example(path.name, tuple(features(read, rules.kinds, wish)), rules, CLASSES.index(kind), heard)
            )
    return found


def _first(heard: HeardMessage) -> str:
    """The behaviour that a message asks for first, in the order in which asking comes before ending."""
    return next(letter for letter in "AGXNKR" if letter in heard.wanted)


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
    rows = [[weights.setdefault(name, [0.0] * count) for name in ("", *example.features)] for example in data]
    past = [[squares.setdefault(name, [1e-6] * count) for name in ("", *example.features)] for example in data]
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
    some of the messages are read by the rules."""
    paths = (Path(__file__), *sorted(folder.glob("*.txt")))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in paths))
    for example in examples(folder, SAMPLED):
        digest.update(repr((example.features, example.label, example.rules.act.name)).encode())
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
    print(f"  {'left out':20}{'n':>5}{'rules':>8}{'model':>8}{'both':>8}{'same':>8}")
    sums = [0] * 5
    for name in sorted({example.source for example in data}):
        model = train([example for example in data if example.source != name])
        row = [0] * 5
        for example in (item for item in data if item.source == name):
            scores = model.scores(example.features)
            best = max(scores, key=scores.__getitem__)
            truth = CLASSES[example.label]
            ruled = _as_class(example.rules.act)
            both = _as_class(combined(example.rules, scores))
            row = [
                old + new
                for old, new in zip(row, (1, ruled is truth, best is truth, both is truth, best is ruled), strict=True)
            ]
        sums = [old + new for old, new in zip(sums, row, strict=True)]
        _print(name, row)
    _print("all", sums)


def _print(name: str, row: Sequence[int]) -> None:
    print(f"  {name:20}{row[0]:5}" + "".join(f"{hits / row[0]:8.3f}" for hits in row[1:]))


def _as_class(act: Act) -> Act:
    return CLASS_OF.get(act, act)


def main(arguments: Sequence[str]) -> None:
    """Check, or write the file."""
    data = examples()
    if "--check" in arguments:
        check(data)
        return
    TARGET.write_text(written(train(data)), "utf-8")
    print(f"{TARGET.name}: {len(data)} messages, {TARGET.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
