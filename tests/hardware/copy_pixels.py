"""Record what copies of columns of pixels (im2col) leave on a GPU, for the emulator's tests.

    python tests/hardware/copy_pixels.py copies.json tests/interpreters/ptx/data/im2col_copies_h200.json

Needs a CUDA driver; the standard library is enough.  `copies.json` is what `--cases` writes (with
the project installed): for each copy the PTX, the numbers of its map and the bytes of its arrays.
"""  # noqa: E501

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from typing import Any

TYPES = {"u8": 0, "s32": 3, "f16": 6, "f32": 7, "f64": 8, "bf16": 9, "tf32": 11}
SWIZZLES = {"none": 0, "32B": 1, "64B": 2, "128B": 3}


def write_cases(path: str) -> None:
    """Write the cases of `support.pixel_copies` as JSON."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from support.pixel_copies import COPIES

    cases: list[dict[str, Any]] = []
    for copy in COPIES:
        m = copy.tensor_map()
        column = copy.in_shared_memory(copy.column())
        cases.append(
            {
                "name": str(copy),
                "ptx": copy.ptx(),
                "load": copy.operation == "load",
                "type": TYPES[copy.element],
                "dims": m.dims,
                "strides": m.strides,
                "lower": copy.lower,
                "upper": copy.upper,
                "box": m.box,
                "steps": m.element_strides,
                "swizzle": SWIZZLES[m.swizzle],
                "oob": int(m.nan_fill),
                "tensor": copy.tensor().tobytes().hex(),
                "column": column.tobytes().hex(),
            }
        )
    Path(path).write_text(json.dumps(cases))


class Driver:
    """The CUDA driver calls needed here."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name: str, *args: Any) -> None:
        """Call a driver function; raise if it fails."""
        if status := getattr(self.library, name)(*args):
            raise SystemExit(f"{name}: CUresult {status}")

    def put(self, data: bytes) -> ctypes.c_uint64:
        """Allocate device memory initialised with `data`."""
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(len(data)))
        self.call("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))
        return address

    def get(self, address: ctypes.c_uint64, size: int) -> bytes:
        """Read `size` bytes of device memory."""
        found = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", found, address, ctypes.c_size_t(size))
        return found.raw

    def launch(self, ptx: str, arguments: list[Any]) -> None:
        """Launch kernel `k` with one warp."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), ptx.encode() + b"\0")
        self.call("cuModuleGetFunction", ctypes.byref(function), module, b"k")
        pointers = (ctypes.c_void_p * len(arguments))(
            *(ctypes.cast(ctypes.byref(a), ctypes.c_void_p) for a in arguments)
        )
        self.call("cuLaunchKernel", function, 1, 1, 1, 32, 1, 1, 0, None, pointers, None)
        self.call("cuCtxSynchronize")


def run(driver: Driver, case: dict[str, Any]) -> str:
    """Run a case and return its output in hexadecimal."""
    tensor, column = bytes.fromhex(case["tensor"]), bytes.fromhex(case["column"])
    memory, out = driver.put(tensor), driver.put(column)
    buffer = ctypes.create_string_buffer(256)
    address = -(-ctypes.addressof(buffer) // 128) * 128

    def array(kind: Any, values: list[int]) -> Any:
        return (kind * len(values))(*values)

    driver.call(
        "cuTensorMapEncodeIm2col",
        ctypes.c_void_p(address),
        case["type"],
        len(case["dims"]),
        ctypes.c_void_p(memory.value),
        array(ctypes.c_uint64, case["dims"]),
        array(ctypes.c_uint64, case["strides"]),
        array(ctypes.c_int, case["lower"]),
        array(ctypes.c_int, case["upper"]),
        ctypes.c_uint32(case["box"][0]),
        ctypes.c_uint32(case["box"][1]),
        array(ctypes.c_uint32, case["steps"]),
        0,
        case["swizzle"],
        0,
        case["oob"],
    )
    made = (ctypes.c_uint8 * 128)(*ctypes.string_at(address, 128))
    driver.launch(case["ptx"], [made, out])
    found = driver.get(out, len(column)) if case["load"] else driver.get(memory, len(tensor))
    return found.hex()


def main() -> None:
    """Write the cases, or run them."""
    if sys.argv[1] == "--cases":
        write_cases(sys.argv[2])
        return
    driver = Driver()
    cases = json.loads(Path(sys.argv[1]).read_text())
    results = {case["name"]: run(driver, case) for case in cases}
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(data)}" for name, data in results.items())
    Path(sys.argv[2]).write_text(f"{{\n{lines}\n}}\n")
    print(f"{len(results)} copies recorded")


if __name__ == "__main__":
    main()
