"""Writing an output file completely or not at all."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def write_output(path: str, text: str) -> None:
    """Replace the file at `path` by `text` in one step, so that nobody sees half of it.

    A device or a pipe is written to as it is.  Raises `OSError`; the file is then as it was before.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        target.write_text(text, encoding="utf-8")
        return
    draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        draft.write_text(text, encoding="utf-8")
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
