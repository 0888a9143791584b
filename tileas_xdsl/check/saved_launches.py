"""Captured launches as files, which `tileas check NAME.ptx --launch NAME.json` repeats."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.check.tensor_map_files import write_tensor_map
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx import LaunchError, TensorMapArg
from tileas_xdsl.interpreters.ptx.parsing.syntax import Kernel, Parameter


@dataclass(frozen=True)
class SavedLaunch:
    """A launch of a kernel of some PTX text: its sizes in blocks, threads and bytes."""

    text: str
    kernel: Kernel
    grid: Sequence[int]
    block: Sequence[int]
    cluster: Sequence[int] | None
    shared: int
    values: Sequence[Any]

    def write(self, folder: Path, name: str) -> Path:
        """Write PTX, launch and arrays; return the launch file."""
        folder.mkdir(parents=True, exist_ok=True)
        pairs = zip(self.values, self.kernel.parameters, strict=True)
        args = [
            _argument(folder, f"{name}.{index}", value, of)
            for index, (value, of) in enumerate(pairs)
        ]
        (folder / f"{name}.ptx").write_text(self.text, encoding="utf-8")
        launch: dict[str, Any] = {"kernel": self.kernel.name, "grid": list(self.grid)}
        launch |= {"block": list(self.block), "shared": self.shared, "args": args}
        launch |= {} if self.cluster is None else {"cluster": list(self.cluster)}
        path = folder / f"{name}.json"
        path.write_text(json.dumps(launch, indent=2) + "\n", encoding="utf-8")
        return path


def _argument(folder: Path, name: str, value: Any, parameter: Parameter) -> str:
    """Write the files of an argument; return it as a launch file names it."""
    if isinstance(value, TensorMapArg):
        array = _argument(folder, name, value.array, parameter)
        write_tensor_map(folder / f"{name}.map.json", value.tensor_map, array)
        return f"map:@{name}.map.json"
    if isinstance(value, np.ndarray):
        np.save(folder / f"{name}.npy", cast("NDArray[Any]", value))
        return f"@{name}.npy"
    return _number(value, parameter)


def _number(value: Any, parameter: Parameter) -> str:
    if not isinstance(value, int | float):
        raise LaunchError(f"a launch with {type(value).__name__} cannot be saved")
    letter = "f" if parameter.type.kind == "float" else "i"
    return f"{letter}{parameter.type.bits}:{value}"
