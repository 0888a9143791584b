"""What MLIR's parser says where xDSL's says the same in other words.

Source: mlir/lib/AsmParser/Parser.cpp, AsmParserImpl.h and TypeParser.cpp of LLVM.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

WORDINGS: Mapping[str, str] = {
    r"Expected '(.+?)'(.*)": r"expected '\1'\2",
    r"'(.+?)' expected(.*)": r"expected '\1'\2",
    r"attribute expected": "expected attribute value",
    r"identifier or string literal expected": "expected valid keyword or string",
    r"expect symbol name": "expected valid '@'-identifier for symbol name",
    r"SSA value (%.+) is already defined": r"redefinition of SSA value '\1'",
    r"Operation has 0 results, but was given \d+ to bind\.": (
        "cannot name an operation with no results"
    ),
    r"Operation has (\d+) results, but was given (\d+) to bind\.": (
        r"operation defines \1 results but was provided \2 to bind"
    ),
    r"expected (\d+) operand types but had (\d+)": (
        r"number of operands and types do not match: got \2 operands and \1 types"
    ),
}
"""By the whole message of xDSL, a regular expression."""

_PATTERNS = [(re.compile(pattern), wording) for pattern, wording in WORDINGS.items()]


def mlir_wording(message: str) -> str:
    """The message as MLIR words it; others as they are."""
    for pattern, wording in _PATTERNS:
        if match := pattern.fullmatch(message):
            return match.expand(wording)
    return message


def is_of_the_parser(message: str) -> bool:
    """Whether MLIR's parser itself says so, not the `parse` method of an operation."""
    return message.startswith(_OF_THE_PARSER) or _OF_AN_OPERATION.match(message) is not None


_OF_AN_OPERATION = re.compile(r"'[\w.$]+' op |Operation [\w.$]+ is not registered")


_OF_THE_PARSER = (
    "expected valid keyword or string",
    "expected valid '@'-identifier",
    "expected attribute value",
    "cannot name an operation",
    "operation defines ",
    "redefinition of SSA value",
    "use of value ",
    "use of undeclared SSA value",
    "custom op ",
)
