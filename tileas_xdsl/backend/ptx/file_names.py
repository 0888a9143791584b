"""Names of files in `.file` lines: ptxas takes printable ASCII there, and knows no escapes.

Other characters are written as URIs have them: `%` and the two digits of each byte.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

_UNWRITABLE = re.compile(r"[^ -~]|\"|%(?=[0-9A-Fa-f]{2})")


def file_name_in_ptx(name: str) -> str:
    """A name as a `.file` line has it."""
    return _UNWRITABLE.sub(lambda found: quote(found[0], safe=""), name)


def file_name_from_ptx(text: str) -> str:
    """The name that was written so."""
    return unquote(text)
