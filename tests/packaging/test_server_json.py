"""server.json against what the registry demands of it, and against what else says the same.

The registry's schema of 2025-12-11 lies at an address that tests do not ask; server.schema.json says what it demands
of our fields, and that a bundle has a checksum, which the registry demands beyond its schema.
"""

import json
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.each import each
from tests.packaging.files import ROOT, builder, project, text

SERVER: dict[str, Any] = json.loads(text("server.json"))
SCHEMA: dict[str, Any] = json.loads(text("tests/packaging/server.schema.json"))


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a release publishes: the file with the checksum of the bundle that was built."""
    bundle = builder().build(tmp_path_factory.mktemp("published"), None)
    return json.loads(bundle.with_name("server.json").read_text(encoding="utf-8"))


def test_what_is_published_follows_the_schema(published: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(published)] == []


def test_only_the_bundle_s_checksum_is_added_when_it_is_published(published: dict[str, Any]) -> None:
    del published["packages"][0]["fileSha256"]
    assert published == SERVER


@each(
    "wrong",
    [
        {"description": "long " * 21},
        {"name": "sandbox-mcp"},
        {"version": "^0.1.0"},
        {"packages": []},
        {"packages": SERVER["packages"]},
        {"licence": "Apache-2.0"},
    ],
    ids=["a long description", "no namespace", "a range", "no package", "no checksum", "another field"],
)
def test_the_schema_refuses(published: dict[str, Any], wrong: dict[str, Any]) -> None:
    assert not Draft202012Validator(SCHEMA).is_valid({**published, **wrong})


def test_its_version_is_the_project_s() -> None:
    assert SERVER["version"] == project()["version"]


def test_its_repository_is_where_its_name_says() -> None:
    owner, name = SERVER["name"].removeprefix("io.github.").split("/")
    assert SERVER["repository"] == {"url": f"https://github.com/{owner}/{name}", "source": "github"}


def test_its_package_is_the_bundle_of_this_version_at_a_release_of_the_repository() -> None:
    (package,) = SERVER["packages"]
    version = project()["version"]
    assert (package["registryType"], package["version"], package["transport"]) == ("mcpb", version, {"type": "stdio"})
    place = f"{SERVER['repository']['url']}/releases/download/v{version}"
    assert package["identifier"] == f"{place}/{project()['name']}-{version}.mcpb"


def test_the_readme_and_the_image_carry_the_same_name() -> None:
    assert f"<!-- mcp-name: {SERVER['name']} -->" in text("README.md")
    assert f'LABEL io.modelcontextprotocol.server.name="{SERVER["name"]}"' in text("Dockerfile")


BY_NAME = re.compile(
    r"uvx +(?:--\S+ +)*sandbox[-_]mcp"
    r"|uv (?:tool|pip) (?:run|install|add) +(?:-\S+ +)*['\"]?sandbox[-_]mcp"
    r"|pipx? (?:run|install) +(?:-\S+ +)*['\"]?sandbox[-_]mcp"
)


@each("told", ["pip install sandbox-mcp", "uvx sandbox-mcp", "pipx run 'sandbox-mcp[llm]'"])
def test_what_would_fetch_it_by_name_is_recognised(told: str) -> None:
    assert BY_NAME.search(told)


def test_no_document_tells_to_fetch_it_by_name() -> None:
    """It has not been released, and `sandbox-mcp` on the index is another project."""
    pages = (path for folder in ("docs", "packaging") for path in (ROOT / folder).rglob("*.md"))
    places = [ROOT / "README.md", *pages, *(ROOT / "examples").rglob("*.*")]
    assert [path.name for path in places if BY_NAME.search(path.read_text(encoding="utf-8"))] == []
