"""The sentence embeddings of all-MiniLM-L6-v2, computed from its published weights with numpy alone.

Policy: the same numbers everywhere. So the weights are those of one checksum, texts are embedded one by one in double
precision, nothing is downloaded, and no code of the package that carries the weights is run. One thread does it: the
matrices are small, and several would wait for each other on a busy machine.
"""

import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from hashlib import file_digest
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandbox_grader.errors import GraderError
from sandbox_grader.grading.wordpiece import WordPieces

CHECKSUM = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of the weights as sentence-transformers published them."""
MOST = 256
"""What comes after so many word pieces of a text is left out."""
LAYERS, HEADS, EPSILON = 6, 12, 1e-12

Array = NDArray[np.float64]
Weights = Mapping[str, NDArray[np.float32]]


class MiniLM:
    """Turns a text into a vector of 384 numbers and length 1.

    Source: Wang et al., MiniLM; Reimers and Gurevych, Sentence-BERT, section 3 (the mean over the word pieces).
    """

    def __init__(self, folder: Path) -> None:
        """Load the model from a folder with ``model.safetensors`` and ``vocab.txt``.

        Raises:
            GraderError: the folder lacks one of them, or holds another model.
        """
        try:
            weights = _weights(folder / "model.safetensors")
            self._pieces = WordPieces((folder / "vocab.txt").read_text(encoding="utf-8").split("\n"))
        except OSError as error:
            raise GraderError(f"{error.filename}: cannot be read: {error.strerror}") from error
        self._words = weights["embeddings.word_embeddings.weight"]  # large: only the rows that are used are read
        self._places: Array = np.add(
            weights["embeddings.position_embeddings.weight"],
            weights["embeddings.token_type_embeddings.weight"][0],
            dtype=np.float64,
        )
        self._norm = _norm(weights, "embeddings.LayerNorm")
        self._layers = [_layer(weights, f"encoder.layer.{number}") for number in range(LAYERS)]
        found = find_spec("threadpoolctl")  # without it only slower
        self._threads: Any = import_module("threadpoolctl").ThreadpoolController() if found else None

    def __call__(self, text: str) -> list[float]:
        """The vector of a text."""
        numbers = self._pieces(text, MOST)
        states = self._norm(self._words[numbers] + self._places[: len(numbers)])
        with self._threads.limit(limits=1) if self._threads else nullcontext():
            for layer in self._layers:
                states = layer(states)
        mean = states.mean(axis=0)
        vector: list[float] = (mean / np.sqrt(mean @ mean)).tolist()
        return vector


@dataclass(frozen=True, slots=True)
class _Linear:
    matrix: Array
    shift: Array

    def __call__(self, states: Array) -> Array:
        return states @ self.matrix + self.shift


@dataclass(frozen=True, slots=True)
class _Norm:
    scale: Array
    shift: Array

    def __call__(self, states: Array) -> Array:
        middled = states - states.mean(axis=-1, keepdims=True)
        spread = np.sqrt((middled**2).mean(axis=-1, keepdims=True) + EPSILON)
        return middled / spread * self.scale + self.shift


@dataclass(frozen=True, slots=True)
class _Layer:
    """Self-attention with several heads, then two linear steps with a GELU in between, each added to what it was given.

    Source: Vaswani et al., Attention is all you need, section 3; Devlin et al., BERT, section 3.
    """

    asking: _Linear
    offering: _Linear
    content: _Linear
    mixing: _Linear
    first_norm: _Norm
    widening: _Linear
    narrowing: _Linear
    second_norm: _Norm

    def __call__(self, states: Array) -> Array:
        asking, offering, content = map(_heads, (self.asking(states), self.offering(states), self.content(states)))
        match = asking @ offering.transpose(0, 2, 1) / np.sqrt(asking.shape[-1])
        share = np.exp(match - match.max(axis=-1, keepdims=True))
        mixed = (share / share.sum(axis=-1, keepdims=True) @ content).transpose(1, 0, 2).reshape(states.shape)
        states = self.first_norm(states + self.mixing(mixed))
        return self.second_norm(states + self.narrowing(_gelu(self.widening(states))))


def _heads(states: Array) -> Array:
    """One array per head: places by numbers."""
    return states.reshape(len(states), HEADS, -1).transpose(1, 0, 2)


def _gelu(states: Array) -> Array:
    erf: Any = import_module("scipy.special").erf  # ships no types
    return states * (erf(states / np.sqrt(2)) + 1) / 2


def _layer(weights: Weights, name: str) -> _Layer:
    linear = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense")
    asking, offering, content, mixing = (_linear(weights, f"{name}.{part}") for part in linear)
    return _Layer(
        asking, offering, content, mixing,
        _norm(weights, f"{name}.attention.output.LayerNorm"),
        _linear(weights, f"{name}.intermediate.dense"),
        _linear(weights, f"{name}.output.dense"),
        _norm(weights, f"{name}.output.LayerNorm"),
    )  # fmt: skip


def _linear(weights: Weights, name: str) -> _Linear:
    return _Linear(_double(weights[f"{name}.weight"]).T, _double(weights[f"{name}.bias"]))


def _norm(weights: Weights, name: str) -> _Norm:
    return _Norm(_double(weights[f"{name}.weight"]), _double(weights[f"{name}.bias"]))


def _double(values: NDArray[np.float32]) -> Array:
    return values.astype(np.float64)


def _weights(path: Path) -> Weights:
    """The arrays of a safetensors file by name: after eight bytes with its size a JSON header, then all numbers."""
    with path.open("rb") as file:
        if file_digest(file, "sha256").hexdigest() != CHECKSUM:
            raise GraderError(f"{path}: not the weights of all-MiniLM-L6-v2 as they were published")
        file.seek(0)
        size = int.from_bytes(file.read(8), "little")
        header: dict[str, Any] = json.loads(file.read(size))
    numbers = np.memmap(path, np.uint8, "r", offset=8 + size)
    return {
        name: numbers[slice(*entry["data_offsets"])].view(np.float32).reshape(entry["shape"])
        for name, entry in header.items()
        if entry.get("dtype") == "F32"
    }
