"""Signatures of functions, which cuTile's front end asks Python for at each call in a kernel.

`inspect.signature` of one takes as long as what else is done for a call: a tenth of the front end.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import import_module
from typing import Any

_MODULE, _NAME = "cuda.tile._passes.hir2ir", "get_signature"
_FUNCTIONS = 1 << 10
"""So many are remembered."""


@cache
def remember_signatures() -> None:
    """Have the front end, which is installed, ask once for a function; where it asks so, that is.

    It changes the package for the process, in time alone: signatures do not change.
    """
    front_end: Any = import_module(_MODULE)
    if (asked := getattr(front_end, _NAME, None)) is not None:
        setattr(front_end, _NAME, lru_cache(_FUNCTIONS)(asked))
