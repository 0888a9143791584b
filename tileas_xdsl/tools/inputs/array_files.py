"""Arrays in `.npy` files: reading them as elements of a type, and writing files atomically.

numpy has no bf16, fp8, fp6 or fp4: `numpy.save` stores most of them as raw bytes (`V2`, `V1`),
people also store unsigned integers.  Both are read where the kernel gives the element type.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
from xdsl.ir import Attribute

from tileas_xdsl.interpreters.tile.numerics.element_types import Array, cast, dtype_of, float_format

_E5M2 = "'<f1'"
"""How `numpy.save` calls the elements of an array of ml_dtypes' float8_e5m2."""


class ArrayFileError(Exception):
    """A file that holds no array of the wanted element type; the message names the file."""


def read_array(path: str, element: Attribute) -> Array:
    """The array in a `.npy` file, its elements read as `element`; raises `ArrayFileError`."""
    stored = _load(path)
    wanted = dtype_of(element)
    if stored.dtype == wanted:
        return _exact(stored.astype(wanted, copy=False), element)
    if _holds_bits_of(stored.dtype, wanted):
        return _exact(stored.view(wanted), element)
    message = f"'{path}' holds {stored.dtype}, which are no elements of {element}"
    raise ArrayFileError(message)


def read_plain_array(path: str) -> Array:
    """The array in a `.npy` file, of whatever numbers; raises `ArrayFileError`."""
    stored = _load(path)
    if not _is_numpys_own(stored.dtype) or stored.dtype.hasobject:
        raise ArrayFileError(f"'{path}' holds {stored.dtype}, which are no numbers")
    return stored


def _exact(values: Array, element: Attribute) -> Array:
    """Only tf32 and i4 are stored in more bits than they have."""
    known = float_format(element)
    return values if known is not None and not known.is_tf32 else cast(values, element)


def _load(path: str) -> Array:
    """Read the array of a file; mapped first, so that a header cannot request too much memory."""
    try:
        mapped = np.lib.format.open_memmap(path, mode="r")
        return np.array(mapped, mapped.dtype.newbyteorder("="), order="C")
    except OSError as error:
        raise ArrayFileError(f"cannot read '{path}': {error.strerror or error}") from error
    except MemoryError:
        raise
    except Exception as error:
        # Of a damaged header, numpy's parser raises what the tokenizer of Python raises.
        reason = " ".join(str(error).split())
        if _E5M2 in reason:
            reason += ", which numpy writes but cannot read: save array.view('V1') instead"
        raise ArrayFileError(f"'{path}' is no whole .npy file of numbers: {reason}") from error


def _holds_bits_of(stored: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    """Whether each stored item is the bits of one wanted element."""
    if stored.itemsize != wanted.itemsize or stored.names is not None:
        return False
    if _is_numpys_own(wanted):
        return stored.kind == "u" and wanted.kind == "i"
    return stored.kind in "Vu"


def _is_numpys_own(dtype: np.dtype[Any]) -> bool:
    """Whether it is no type of ml_dtypes."""
    return issubclass(dtype.type, np.number | np.bool_)


class Drafts:
    """Files that appear together at the end of a `with` block, or not at all if it fails."""

    def __init__(self) -> None:
        self._drafts: list[tuple[Path, Path]] = []
        self._direct: list[tuple[Path, bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._commit()
        finally:
            for draft, _ in self._drafts:
                draft.unlink(missing_ok=True)

    def array(self, path: Path, array: Array) -> None:
        """`array` as a `.npy` file; its folder is made.  Raises `OSError`."""
        stored = array if _is_numpys_own(array.dtype) else array.view(f"V{array.dtype.itemsize}")
        with _about(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        self._add(path, lambda file: np.save(file, stored, allow_pickle=False))

    def text(self, path: Path, text: str) -> None:
        """`text` in UTF-8; to a device or a pipe as it is.  Raises `OSError`."""
        self.bytes(path, text.encode())

    def bytes(self, path: Path, content: bytes) -> None:
        """`content` as it is.  Raises `OSError`."""
        if path.exists() and not path.is_file():
            self._direct.append((path, content))
            return
        self._add(path, lambda file: file.write(content))

    def _add(self, path: Path, write: Callable[[IO[bytes]], object]) -> None:
        target = Path(os.path.realpath(path))
        draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        self._drafts.append((draft, path))
        with _about(path):
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            with draft.open("wb") as file:
                write(file)
            if target.exists():
                shutil.copymode(target, draft)

    def _commit(self) -> None:
        for path, content in self._direct:
            with _about(path):
                path.write_bytes(content)
        for draft, path in self._drafts:
            with _about(path):
                draft.replace(os.path.realpath(path))


@contextmanager
def _about(path: Path) -> Generator[None]:
    """Errors speak of the file that the user knows, not of its draft."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
