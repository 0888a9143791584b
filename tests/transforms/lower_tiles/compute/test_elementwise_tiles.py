"""Element-wise work on tiles: the emulator gives what the interpreter does, bit for bit."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.support.assembling import needs_ptxas
from tests.support.plain_kernels import kernel, load, store
from tileas_xdsl.backend.ptxas import assemble
from tileas_xdsl.compiler import compile
from tileas_xdsl.target.arch import TARGETS

DTYPES: dict[str, Any] = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "f16": np.float16,
    "f32": np.float32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}

BODIES = {
    "quotients": (
        "i32",
        "%u = arith.ceildivui %a, %b : {t}\n%v = arith.floordivsi %a, %b : {t}",
    ),
    "bytes": ("i8", "%u = arith.muli %a, %b : {t}\n%v = arith.minsi %a, %b : {t}"),
    "halves of products": ("i16", "%u, %v = arith.mulsi_extended %a, %b : {t}"),
    "counts": ("i16", "%u = math.ctlz %a : {t}\n%v = math.ctpop %b : {t}"),
    "powers": ("i32", "%u = math.ipowi %b, %b : {t}\n%v = math.absi %a : {t}"),
    "signs": ("f16", "%u = math.copysign %a, %b : {t}\n%v = math.round %a : {t}"),
    "signs of bytes": ("f8E5M2", "%u = math.copysign %a, %b : {t}\n%v = arith.negf %a : {t}"),
    "sums of bytes": ("f8E4M3FN", "%u = math.fma %a, %b, %b : {t}\n%v = arith.addf %a, %b : {t}"),
    "directions": (
        "f32",
        '%u = arith.addf %a, %b {{nv_tileas.rounding = "rz"}} : {t}\n'
        '%v = arith.divf %a, %b {{nv_tileas.rounding = "rp"}} : {t}',
    ),
    "flushed": (
        "f32",
        "%u = arith.mulf %a, %b {{nv_tileas.ftz}} : {t}\n"
        "%v = arith.subf %a, %b {{nv_tileas.sat}} : {t}",
    ),
}
SIZE = 256


def _text(element: str, body: str) -> str:
    memref, tile = f"memref<{SIZE}x{element}>", f"{SIZE}x{element}"
    lines = [load(name, f"m{name}", memref, tile, "%zero") for name in "ab"]
    lines.append(body.format(t=f"tensor<{tile}>"))
    lines += [store(name, f"m{name}", memref, tile, "%zero") for name in "uv"]
    return kernel(", ".join(f"%m{name}: {memref}" for name in "abuv"), "\n".join(lines), 1)


def _random(rng: np.random.Generator, element: str) -> Any:
    dtype = np.dtype(DTYPES[element])
    values = rng.integers(0, 256, SIZE * dtype.itemsize).astype(np.uint8).view(dtype)
    if dtype.kind == "i":
        return np.where(values == 0, dtype.type(3), values)
    return np.where(np.isnan(values.astype(np.float32)), dtype.type(1.5), values)


@pytest.mark.parametrize("name", BODIES)
def test_the_emulator_agrees_with_the_interpreter(name: str) -> None:
    element, body = BODIES[name]
    made = compile(_text(element, body))
    rng = np.random.default_rng(4)
    with np.errstate(invalid="ignore"):
        arrays = [_random(rng, element) for _ in range(2)]
    outputs = [np.zeros(SIZE, DTYPES[element]) for _ in range(2)]
    emulated = made.emulate(*arrays, *outputs, grid=(1, 1, 1))
    assert [str(finding) for finding in emulated.findings] == []
    simulated = made.simulate(*arrays, *outputs, grid=(1, 1, 1))
    for found, wanted in zip(emulated.arrays[2:], simulated.arrays[2:], strict=True):
        assert found.tobytes() == np.asarray(wanted).tobytes()


@needs_ptxas
@pytest.mark.parametrize("target", TARGETS)
def test_ptxas_takes_functions_of_tiles(target: str) -> None:
    functions = ("exp", "sin", "erf", "log1p")
    body = "%u = math.tanh %a : {t}\n%v0 = math.powf %a, %b : {t}\n"
    for k, function in enumerate(functions):
        body += f"%v{k + 1} = math.{function} %v{k} : {{t}}\n"
    body += f"%v = arith.addf %v{len(functions)}, %a : {{t}}"
    assembled = assemble(compile(_text("f32", body), target).ptx, target)
    assert assembled.messages == ()
