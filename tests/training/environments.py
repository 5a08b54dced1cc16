"""Makes the environments of training frameworks: ``python -m tests.training.environments FOLDER [NAME...]``.

Each has a framework as its makers publish it. Our own package is beside it only where episodes are played in process.
What cannot be had on this machine is named, and its tests are skipped.
"""

import os
import subprocess
import sys
from pathlib import Path

WANTED: dict[str, tuple[str, ...]] = {
    "openenv": ("openenv==0.10.0",),
    "verifiers": ("verifiers==0.4.0", "uv", "./packaging/verifiers"),
    "trl": (
        *("torch>=2.13,<2.15", "trl==1.16.0", "transformers>=5,<6", "datasets", "jmespath", "jinja2"),
        *("skyrl-gym==0.4.0", "-e", "."),
    ),
    "nemo": ("nemo-gym==0.7.0", "httpx"),
    "openreward": ("openreward==0.1.167",),
}
NEWER = {"nemo": (3, 13)}
"""Frameworks that want a later Python than ours."""


def python_for(name: str) -> list[str] | None:
    """The Python that makes an environment; None where there is none on this machine."""
    wanted = NEWER.get(name)
    if wanted is None or sys.version_info >= wanted:
        return [sys.executable]
    version = f"{wanted[0]}.{wanted[1]}"
    pyenv = (
        Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    )  # its shims know the chosen ones only
    for command in (f"python{version}", *map(str, sorted(pyenv.glob(f"{version}.*/bin/python")))):
        try:
            subprocess.run([command, "--version"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        return [command]
    return None


def main(folder: Path, names: list[str]) -> int:
    """Make those that are named, or all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or WANTED:
        if (folder / name / "made").exists():
            continue
        python = python_for(name)
        if python is None:
            print(f"skipped: {name} needs Python {'.'.join(map(str, NEWER[name]))}", flush=True)  # noqa: T201
            continue
        print(f"making {name}", flush=True)  # noqa: T201
        ignoring = ["--ignore-requires-python"] if name in NEWER else []
        try:
            subprocess.run([*python, "-m", "venv", str(folder / name)], check=True)
            pip = [str(folder / name / "bin" / "python"), "-m", "pip", "install", "--quiet", *ignoring]
            subprocess.run([*pip, *WANTED[name]], check=True)
        except subprocess.CalledProcessError:
            print(f"skipped: {name} cannot be installed on this machine", flush=True)  # noqa: T201
            continue
        (folder / name / "made").touch()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
