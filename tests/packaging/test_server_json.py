"""server.json against what the registry demands of it, and against what else says the same.

The registry's schema of 2025-12-11 lies at an address that tests do not ask; what it demands of these fields is here.
"""

import json
import re
from typing import Any

import pytest

from tests.packaging.files import ROOT, project, text

SERVER: dict[str, Any] = json.loads(text("server.json"))
URI = re.compile(r"https://[^\s/]+/\S+")


def test_it_names_the_schema_that_it_follows() -> None:
    assert SERVER["$schema"] == "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def test_it_has_the_fields_that_the_schema_has() -> None:
    assert {"name", "description", "version"} <= set(SERVER)
    assert set(SERVER) <= {"$schema", "name", "title", "description", "version", "repository", "packages", "remotes"}


def test_its_name_is_one_of_a_namespace_and_a_server() -> None:
    assert re.fullmatch(r"io\.github\.[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", SERVER["name"])
    assert 3 <= len(SERVER["name"]) <= 200


def test_its_texts_are_short_enough() -> None:
    assert all(1 <= len(SERVER[field]) <= 100 for field in ("title", "description"))


def test_its_version_is_the_project_s() -> None:
    assert SERVER["version"] == project()["version"]
    assert not re.search(r"[\^~<>*x ]", SERVER["version"])


def test_its_repository_is_where_its_name_says() -> None:
    owner, name = SERVER["name"].removeprefix("io.github.").split("/")
    assert SERVER["repository"] == {"url": f"https://github.com/{owner}/{name}", "source": "github"}


def test_its_package_is_the_bundle_of_this_version_at_a_release_of_the_repository() -> None:
    (package,) = SERVER["packages"]
    version = project()["version"]
    assert set(package) == {"registryType", "identifier", "version", "transport"}
    assert (package["registryType"], package["version"], package["transport"]) == ("mcpb", version, {"type": "stdio"})
    place = f"{SERVER['repository']['url']}/releases/download/v{version}"
    assert package["identifier"] == f"{place}/{project()['name']}-{version}.mcpb"
    assert URI.fullmatch(package["identifier"])


def test_the_readme_and_the_image_carry_the_same_name() -> None:
    assert f"<!-- mcp-name: {SERVER['name']} -->" in text("README.md")
    assert f'LABEL io.modelcontextprotocol.server.name="{SERVER["name"]}"' in text("Dockerfile")


BY_NAME = re.compile(
    r"uvx +(?:--\S+ +)*sandbox[-_]mcp"
    r"|uv (?:tool|pip) (?:run|install|add) +(?:-\S+ +)*['\"]?sandbox[-_]mcp"
    r"|pipx? (?:run|install) +(?:-\S+ +)*['\"]?sandbox[-_]mcp"
)


@pytest.mark.parametrize("told", ["pip install sandbox-mcp", "uvx sandbox-mcp", "pipx run 'sandbox-mcp[llm]'"])
def test_what_would_fetch_it_by_name_is_recognised(told: str) -> None:
    assert BY_NAME.search(told)


def test_no_document_has_anybody_fetch_it_by_name() -> None:
    """It is on no index; whatever answers to its name there is somebody else's."""
    places = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "packaging").rglob("*.md")]
    assert [path.name for path in places if BY_NAME.search(path.read_text(encoding="utf-8"))] == []
