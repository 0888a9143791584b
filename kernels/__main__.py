"""`python -m kernels` lists the kernels; `NAME [PARAMETER=VALUE ...]` after it prints one."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from kernels import KERNELS, parameters_of
from kernels.kernel import Kernel
from tileas_xdsl.tools.failures import ends_with_its_reader


def main(
    arguments: Sequence[str],
    kernels: Mapping[str, type[Kernel]] = KERNELS,
    command: str = "python -m kernels",
) -> int:
    """Print what the arguments ask for; return 2 if they are malformed."""
    if not arguments:
        sys.stdout.write(_list(kernels))
        return 0
    name, *settings = arguments
    try:
        if name not in kernels:
            raise ValueError(f"there is no kernel {name!r}")
        text = _made(kernels[name], settings).text()
    except ValueError as error:
        sys.stderr.write(f"{command}: {error}; `{command}` lists what there is\n")
        return 2
    sys.stdout.write(text)
    return 0


def _list(kernels: Mapping[str, type[Kernel]]) -> str:
    lines = [
        " ".join([name, *(f"{key}={value}" for key, value in parameters_of(kind).items())])
        for name, kind in kernels.items()
    ]
    return "\n".join(lines) + "\n"


def _made(kind: type[Kernel], settings: Sequence[str]) -> Kernel:
    """Return the kernel with each `PARAMETER=VALUE` converted to the type of its default."""
    defaults, found = parameters_of(kind), dict[str, Any]()
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or key not in defaults:
            raise ValueError(f"{kind.name} has no parameter {setting!r}")
        found[key] = type(defaults[key])(value)
    return kind(**found)


if __name__ == "__main__":
    with ends_with_its_reader():
        code = main(sys.argv[1:])
    sys.exit(code)
