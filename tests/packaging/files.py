"""The files that a release is made of, and the script that builds the bundle, loaded from where it lies."""

import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def project() -> dict[str, Any]:
    return tomllib.loads(text("pyproject.toml"))["project"]


def packages() -> list[str]:
    return tomllib.loads(text("pyproject.toml"))["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


def builder() -> ModuleType:
    """packaging/build_mcpb.py; the folder is not a package, so that it hides none of that name."""
    spec = spec_from_file_location("build_mcpb", ROOT / "packaging" / "build_mcpb.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
