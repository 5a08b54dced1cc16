"""``make release``: what it would let through, and what it refuses."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest

from tests.each import each
from tests.packaging.files import ROOT

WHOLE = (
    "ours/py.typed", "ours/suite/a.yaml", "ours/knowledge/data/exchange_rates.csv.gz", "x.dist-info/licenses/LICENSE",
)  # fmt: skip


@pytest.fixture(scope="module")
def release() -> ModuleType:
    spec = spec_from_file_location("release", ROOT / "packaging" / "release.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wheel(folder: Path, *names: str) -> Path:
    path = folder / "x.whl"
    with ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "")
    return path


def test_a_wheel_with_all_its_parts_passes(release: ModuleType, tmp_path: Path) -> None:
    assert release.check_wheel(wheel(tmp_path, *WHOLE), ["somewhere/ours"]) == len(WHOLE)


@each(
    ("names", "told"),
    [
        ((*WHOLE, "theirs/a.py"), "holds"),
        (WHOLE[1:], "lacks py.typed"),
        ((*WHOLE, "ours/a.pyc"), "holds ours/a.pyc"),
        ((*WHOLE, "ours/.env"), "holds ours/.env"),
    ],
)
def test_a_wheel_with_something_else_is_refused(
    release: ModuleType, names: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    with pytest.raises(SystemExit, match=told):
        release.check_wheel(wheel(tmp_path, *names), ["ours"])
