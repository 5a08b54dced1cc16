"""Builds all that a release publishes, checks it, and prints what a person with accounts would run; uploads nothing.

Usage: ``python packaging/release.py OUTPUT PYTHON``, with the packages of ``packaging/release.txt``, where PYTHON has
this package installed; see ``make release``.
"""

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "tests" / "packaging" / "server.schema.json"
LARGEST = 20_000_000
"""Bytes of the wheel; a data file that slipped in is seen."""
UPLOAD = """
Nothing was uploaded. With accounts, and with the tag v{version} pushed:
  twine upload {out}/*.whl {out}/*.tar.gz
  gh release create v{version} {out}/*.mcpb {out}/*.whl {out}/*.tar.gz --notes-file CHANGELOG.md
  mcp-publisher publish {out}/server.json
  {container}"""


def run(*command: str) -> None:
    """Run one step; what it prints is shown where it fails."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        sys.exit(f"failed: {' '.join(command)}\n{done.stdout}{done.stderr}")


def check_wheel(wheel: Path, packages: list[str]) -> int:
    """See that a wheel holds our packages, their data and the license alone; gives the number of its files."""
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.partition("/")[0] for name in names if ".dist-info/" not in name}
    if tops != {Path(package).name for package in packages}:
        sys.exit(f"{wheel.name} holds {sorted(tops)}; expected {packages}")
    needed = ("py.typed", ".dist-info/licenses/LICENSE", "knowledge/data/exchange_rates.csv.gz", "suite/")
    if lacking := [part for part in needed if not any(part in name for name in names)]:
        sys.exit(f"{wheel.name} lacks {', '.join(lacking)}")
    if odd := [name for name in names if name.endswith((".pyc", ".orig", ".rej")) or "/." in name]:
        sys.exit(f"{wheel.name} holds {', '.join(odd[:5])}")
    if wheel.stat().st_size > LARGEST:
        sys.exit(f"{wheel.name} has {wheel.stat().st_size} bytes; expected at most {LARGEST}")
    return len(names)


def check_readme() -> None:
    """See that the README is shown on a package index as a page, and not as its source."""
    from readme_renderer.markdown import render

    page = render((ROOT / "README.md").read_text(encoding="utf-8"))
    if not page or "<table" not in page or "<pre" not in page:
        sys.exit("README.md is not rendered with its tables and code")


def check_server(path: Path) -> None:
    """See that what MCP's registry gets follows its schema."""
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    validator.validate(json.loads(path.read_text(encoding="utf-8")))


def main(out: Path, python: str) -> None:
    """Do it all, and say of each step that it went well."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    version = project["project"]["version"]
    shutil.rmtree(out, ignore_errors=True)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out))
    (wheel,), (source,) = out.glob("*.whl"), out.glob("*.tar.gz")
    files = check_wheel(wheel, project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])
    print(f"wheel: {wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB, {files} files")
    print(f"source: {source.name}, {source.stat().st_size / 1e6:.1f} MB")
    run(sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(source))
    check_readme()
    print("twine check passed; the README is rendered")
    run(python, "packaging/build_mcpb.py", str(out))
    (bundle,) = out.glob("*.mcpb")
    check_server(out / "server.json")
    print(f"bundle: {bundle.name}, {bundle.stat().st_size / 1e6:.1f} MB; server.json follows its schema")
    image = f"sandbox-mcp:{version}"
    docker = shutil.which("docker")
    if docker and not subprocess.run([docker, "info"], capture_output=True, check=False).returncode:  # noqa: S603
        run(docker, "build", "--tag", image, ".")
        print(f"container: {image}")
        container = f"docker push {image}"
    else:
        print("container: not built, as docker is not running here")
        container = f"docker build --tag {image} . && docker push {image}"
    print(UPLOAD.format(version=version, out=out, container=container))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
