"""Files that are written whole or not at all, and the name of the file in what the system says when it cannot be."""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

LONGEST = 200
"""Bytes of a file's name that its draft has too: names may have 255, and the draft's says whose it is besides."""


def write_whole(path: Path, data: str | bytes) -> None:
    """Write a file, so that it is there whole or as it was before; text is written as UTF-8, its line ends as they are.

    A pipe or a device is written to, and a link leads to the file to write.

    Raises:
        OSError: it cannot be written; the error names it, which the system's own does not.
    """
    content = data.encode() if isinstance(data, str) else data
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(content)
            return
        target = path.resolve()
        name = target.name.encode(errors="ignore")[:LONGEST].decode(errors="ignore")
        draft = target.with_name(f".{name}.{os.getpid()}")
        try:
            draft.write_bytes(content)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def check_writable(path: Path) -> Path:
    """See that a file, or a folder, of that name can be written or made later; gives it back.

    Long work that ends in a file asks this first. Nothing is made or changed.

    Raises:
        OSError: it cannot; a file stands in the place of a folder, or permission is missing.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return path
    above = next(folder for folder in target.parents if folder.exists())
    if not above.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    if not os.access(above, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return path


def check_regular(path: Path, *, links: bool = True) -> Path:
    """See that a path leads to a regular file, or to nothing yet; gives it back.

    A pipe would block whoever opens it, and a device takes what was meant to be kept. Without ``links`` a link is
    refused as well, as in a folder of ours, across whose border nothing is written.

    Raises:
        OSError: it leads to something else.
    """
    with suppress(FileNotFoundError):
        if not stat.S_ISREG((path.stat() if links else path.lstat()).st_mode):
            kind = "is a link or no regular file" if not links else "is no regular file"
            raise OSError(errno.EINVAL, f"{path.name!r} {kind}", str(path))
    return path


def append_whole(descriptor: int, data: bytes, path: Path) -> None:
    """Append to a file that was opened for that; when this returns the system has all of it, and when it raises none.

    Raises:
        OSError: it cannot be written, or has been removed; the error names ``path``.
    """
    before = os.fstat(descriptor)
    if before.st_nlink == 0:
        raise FileNotFoundError(errno.ENOENT, "it has been removed", str(path))
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except OSError as error:
        with suppress(OSError):
            os.ftruncate(descriptor, before.st_size)
        raise OSError(error.errno, error.strerror, str(path)) from error
