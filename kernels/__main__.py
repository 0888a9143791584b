"""`python -m kernels` lists the kernels; `NAME [PARAMETER=VALUE ...]` behind it prints one."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kernels import KERNELS, make, parameters_of
from tileas_xdsl.tools.failures import ends_with_its_reader


def main(arguments: Sequence[str]) -> int:
    """What the arguments ask for, on stdout; 2 if they cannot be understood."""
    if not arguments:
        sys.stdout.write(_list())
        return 0
    name, *settings = arguments
    try:
        if name not in KERNELS:
            raise ValueError(f"there is no kernel {name!r}")
        text = make(name, **_parameters(name, settings)).text()
    except ValueError as error:
        sys.stderr.write(f"python -m kernels: {error}; `python -m kernels` lists what there is\n")
        return 2
    sys.stdout.write(text)
    return 0


def _list() -> str:
    lines = [
        " ".join([name, *(f"{key}={value}" for key, value in parameters_of(kind).items())])
        for name, kind in KERNELS.items()
    ]
    return "\n".join(lines) + "\n"


def _parameters(name: str, settings: Sequence[str]) -> dict[str, str | int]:
    """Each `PARAMETER=VALUE` in the type of its default."""
    defaults, found = parameters_of(KERNELS[name]), dict[str, str | int]()
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or key not in defaults:
            raise ValueError(f"{name} has no parameter {setting!r}")
        found[key] = type(defaults[key])(value)
    return found


if __name__ == "__main__":
    with ends_with_its_reader():
        code = main(sys.argv[1:])
    sys.exit(code)
