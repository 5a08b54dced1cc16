"""Means of a live source to fail well: time limits, and one exception for every way of giving no answer.

Policy: a source that does not answer, answers with an error status, or answers something unreadable is unavailable.
That is never taken for "nothing found", which only the source itself can say.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.worlds.phone.knowledge.errors import KnowledgeError, KnowledgeUnavailable, Reason

TIMEOUT_SECONDS = 10.0
MAX_BYTES = 5_000_000
STATUS_REASONS: Mapping[int, Reason] = {
    401: "denied",
    402: "quota",
    403: "denied",
    408: "timeout",
    429: "quota",
    504: "timeout",
}


def get_json(
    url: str, *, source: str, headers: Mapping[str, str] | None = None, timeout: float = TIMEOUT_SECONDS
) -> Any:
    """The JSON document at an http or https address.

    Args:
        url: The address with its query.
        source: The name of the source, for messages.
        headers: Extra headers, such as a key.
        timeout: Seconds to wait for the connection, and for each part of the answer.

    Raises:
        KnowledgeUnavailable: there was no readable answer with a status of success.
    """
    from urllib.request import Request, urlopen

    if not url.startswith(("http://", "https://")):
        raise KnowledgeUnavailable(source, "network", f"{url!r} is not an http or https address")
    with answering(source):
        request = Request(url, headers=dict(headers or {}))  # noqa: S310 - the scheme is checked above
        with urlopen(request, timeout=timeout) as response:  # noqa: S310
            body = response.read(MAX_BYTES + 1)
        if len(body) > MAX_BYTES:
            raise KnowledgeUnavailable(source, "malformed", f"the answer is longer than {MAX_BYTES:,} bytes")
        return loads(body)


@contextmanager
def answering(source: str) -> Generator[None]:
    """Turn whatever goes wrong while asking a source, or while reading its answer, into ``KnowledgeUnavailable``.

    A missing key, a value of the wrong type and text other than JSON count as unreadable.
    """
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError

    try:
        yield
    except KnowledgeError:
        raise
    except HTTPError as error:
        error.close()
        reason = STATUS_REASONS.get(error.code, "http")
        raise KnowledgeUnavailable(source, reason, f"status {error.code} {error.reason}") from error
    except (OSError, LookupError, TypeError, ValueError, RecursionError) as error:
        cause = error.reason if isinstance(error, URLError) else error
        if isinstance(cause, TimeoutError):
            raise KnowledgeUnavailable(source, "timeout", "no answer in time") from error
        if isinstance(error, OSError | HTTPException):
            raise KnowledgeUnavailable(source, "network", str(cause) or type(cause).__name__) from error
        told = f"unexpected answer: {type(error).__name__}: {error}"
        raise KnowledgeUnavailable(source, "malformed", told) from error
