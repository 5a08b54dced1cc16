"""Solvers of families of the hard tier, one module for each family."""

from importlib import import_module
from pkgutil import iter_modules

from tests.scenarios.solvers.driver import SOLVERS

for module in iter_modules(__path__):
    import_module(f"{__name__}.{module.name}")

__all__ = ["SOLVERS"]
