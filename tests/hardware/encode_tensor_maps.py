"""Record the output of `cuTensorMapEncodeTiled` for many maps, for the encoder's tests.

    python tests/hardware/encode_tensor_maps.py tests/target/data/tensor_maps_driver.json

Needs a CUDA driver; the standard library is enough.  Every map is written with the driver's own
numbers (the values of the enums in cuda.h) and the 128 bytes it was encoded to, or null where the
driver refused it.  `im2col` holds maps of the other kind, which the decoder must recognise.
"""

from __future__ import annotations

import ctypes
import json
import random
import sys
from pathlib import Path
from typing import Any

Map = dict[str, Any]

ELEMENT_BYTES = (1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4)
"""Element sizes in bytes of CUtensorMapDataType 0..12; 13 to 15 are packed 4 and 6 bit types."""

FLOATS = (6, 7, 8, 9, 10, 11, 12)
SPANS = (None, 32, 64, 128, 128, 128, 128)
"""Row bytes permuted by each CUtensorMapSwizzle."""

BASE: Map = {
    "type": 9, "address": 0x7F00_0000_0000, "dims": [1024, 512], "strides": [2048],
    "box": [64, 128], "element_strides": [1, 1], "interleave": 0, "swizzle": 3, "l2": 2, "oob": 0,
}  # fmt: skip

RANK3: Map = BASE | {
    "dims": [1024, 512, 7], "strides": [2048, 1 << 20], "box": [8, 16, 2],
    "element_strides": [1, 1, 1],
}  # fmt: skip

VARIANTS: list[Map] = [
    {"l2": 0}, {"l2": 1}, {"l2": 3}, {"l2": 4}, {"oob": 1}, {"oob": 2}, {"oob": 1, "type": 1},
    {"address": 0}, {"address": 8}, {"address": (1 << 57) - 16}, {"address": 1 << 57},
    {"address": (1 << 64) - 16},
    {"strides": [8]}, {"strides": [24]}, {"strides": [0]}, {"strides": [16]},
    {"strides": [(1 << 40) - 16]}, {"strides": [1 << 40]}, {"strides": [1 << 36]},
    {"dims": [0, 512]}, {"dims": [1024, 0]}, {"dims": [1 << 32, 512]}, {"dims": [1024, 1 << 32]},
    {"dims": [1024, (1 << 32) + 1]}, {"dims": [1, 1]}, {"dims": [3, 512]},
    {"box": [0, 128]}, {"box": [64, 0]}, {"box": [64, 256]}, {"box": [64, 257]},
    {"box": [4, 128]}, {"box": [12, 128]}, {"box": [8, 128]}, {"box": [72, 128]},
    {"box": [256, 1], "swizzle": 0}, {"box": [256, 256], "swizzle": 0},
    {"box": [257, 1], "swizzle": 0}, {"box": [12, 1], "swizzle": 0},
    {"box": [16, 8], "swizzle": 1}, {"box": [24, 8], "swizzle": 1},
    {"box": [32, 8], "swizzle": 2}, {"box": [40, 8], "swizzle": 2},
    {"element_strides": [0, 1]}, {"element_strides": [1, 0]}, {"element_strides": [2, 1]},
    {"element_strides": [1, 8]}, {"element_strides": [1, 9]}, {"element_strides": [8, 1]},
    {"element_strides": [9, 1]}, {"box": [64, 4], "element_strides": [1, 8]},
    {"interleave": 1}, {"interleave": 2}, {"interleave": 3},
    {"swizzle": 4}, {"swizzle": 5}, {"swizzle": 6}, {"swizzle": 7},
    {"swizzle": 4, "type": 7, "box": [32, 8]}, {"swizzle": 6, "box": [64, 8]},
    {"type": 13, "box": [128, 8]}, {"type": 13, "box": [128, 8], "swizzle": 0},
    {"type": 13, "box": [256, 8]}, {"type": 13, "box": [32, 8], "dims": [1023, 512]},
    {"type": 14, "box": [128, 8]}, {"type": 14, "box": [128, 8], "swizzle": 0},
    {"type": 14, "box": [64, 8]}, {"type": 14, "box": [128, 8], "swizzle": 2},
    {"type": 15, "box": [128, 8]}, {"type": 15, "box": [128, 8], "swizzle": 0},
    {"type": 15, "box": [128, 8], "dims": [1000, 512]}, {"type": 15, "box": [128, 8], "swizzle": 6},
    {"type": 15, "box": [128, 8], "strides": [2064]}, {"type": 16},
    {"dims": [1024], "strides": [], "box": [64], "element_strides": [1]},
    {"dims": [64] * 6, "strides": [2048] * 5, "box": [8] * 6, "element_strides": [1] * 6},
    {"dims": [], "strides": [], "box": [], "element_strides": []},
    RANK3, RANK3 | {"box": [64, 256, 256]}, RANK3 | {"interleave": 1},
    RANK3 | {"interleave": 1, "swizzle": 0}, RANK3 | {"interleave": 1, "swizzle": 1},
    RANK3 | {"interleave": 1, "swizzle": 2}, RANK3 | {"interleave": 1, "box": [64, 16, 2]},
    RANK3 | {"interleave": 1, "element_strides": [2, 1, 1]},
    RANK3 | {"interleave": 1, "element_strides": [1, 2, 1]},
    RANK3 | {"interleave": 1, "element_strides": [0, 1, 1]},
    RANK3 | {"interleave": 1, "box": [4, 16, 2]}, RANK3 | {"interleave": 1, "box": [3, 16, 2]},
    RANK3 | {"interleave": 2}, RANK3 | {"interleave": 2, "swizzle": 0},
    RANK3 | {"interleave": 2, "swizzle": 1}, RANK3 | {"interleave": 2, "swizzle": 2},
    RANK3 | {"interleave": 2, "swizzle": 1, "box": [16, 16, 2]},
    RANK3 | {"interleave": 2, "swizzle": 1, "box": [64, 16, 2]},
    RANK3 | {"interleave": 2, "swizzle": 1, "address": 16},
    RANK3 | {"interleave": 2, "swizzle": 1, "strides": [2064, 1 << 20]},
    RANK3 | {"interleave": 2, "swizzle": 1, "type": 0, "box": [32, 16, 2]},
]  # fmt: skip

IM2COL = (([-1], [1], 3), ([-1, 2], [1, 3], 4), ([0, 0, 0], [-1, -2, -3], 5))


def random_map(rng: random.Random) -> Map:
    """Return a valid non-interleaved map: any byte-sized type, any 16-byte swizzle."""
    kind = rng.randrange(13)
    size = ELEMENT_BYTES[kind]
    rank = rng.randint(1, 5)
    swizzle = rng.randrange(4)
    widest = (SPANS[swizzle] or 256 * size) // 16
    inner = 16 * rng.randint(1, min(widest, 16 * size)) // size
    dims = [rng.choice((1, 7, 64, 129, 4096, rng.randint(1, 1 << 32))) for _ in range(rank)]
    strides = [16 * rng.choice((1, 3, 128, rng.randrange(1, 1 << 36))) for _ in dims[1:]]
    return {
        "type": kind,
        "address": 16 * rng.randrange(1 << 43),
        "dims": dims,
        "strides": strides,
        "box": [inner, *(rng.randint(1, 256) for _ in dims[1:])],
        "element_strides": [1, *(rng.choice((1, 1, 2, rng.randint(1, 8))) for _ in dims[1:])],
        "interleave": 0,
        "swizzle": swizzle,
        "l2": rng.randrange(4),
        "oob": int(kind in FLOATS and rng.random() < 0.5),
    }


def _array(kind: Any, values: list[int]) -> Any:
    return (kind * max(1, len(values)))(*values)


def _aligned_map() -> tuple[Any, int]:
    buffer = ctypes.create_string_buffer(256)
    return buffer, -(-ctypes.addressof(buffer) // 128) * 128


def _head(m: Map, address: int) -> tuple[Any, ...]:
    return (
        ctypes.c_void_p(address),
        ctypes.c_int(m["type"]),
        ctypes.c_uint32(len(m["dims"])),
        ctypes.c_void_p(m["address"]),
        _array(ctypes.c_uint64, m["dims"]),
        _array(ctypes.c_uint64, m["strides"]),
    )


def _modes(m: Map) -> tuple[Any, ...]:
    return tuple(ctypes.c_int(m[key]) for key in ("interleave", "swizzle", "l2", "oob"))


def encode(driver: ctypes.CDLL, m: Map) -> str | None:
    """Return the 128 bytes in hexadecimal, or None if the driver rejects the map."""
    keep, address = _aligned_map()
    box = _array(ctypes.c_uint32, m["box"])
    steps = _array(ctypes.c_uint32, m["element_strides"])
    status = driver.cuTensorMapEncodeTiled(*_head(m, address), box, steps, *_modes(m))
    result = ctypes.string_at(address, 128).hex()
    del keep
    return None if status else result


def encode_im2col(driver: ctypes.CDLL, m: Map) -> str | None:
    """Like `encode`, for an im2col map."""
    keep, address = _aligned_map()
    lower, upper = _array(ctypes.c_int, m["lower"]), _array(ctypes.c_int, m["upper"])
    steps = _array(ctypes.c_uint32, m["element_strides"])
    status = driver.cuTensorMapEncodeIm2col(
        *_head(m, address),
        lower,
        upper,
        ctypes.c_uint32(64),
        ctypes.c_uint32(32),
        steps,
        *_modes(m),
    )
    result = ctypes.string_at(address, 128).hex()
    del keep
    return None if status else result


def _im2col_map(lower: list[int], upper: list[int], rank: int) -> Map:
    return BASE | {
        "dims": [256] * rank, "strides": [4096 << i for i in range(rank - 1)],
        "element_strides": [1] * rank, "lower": lower, "upper": upper,
    }  # fmt: skip


def _enter_context(driver: ctypes.CDLL) -> None:
    """Create a context: without one the driver rejects every map."""
    device, context = ctypes.c_int(), ctypes.c_void_p()
    for status in (
        driver.cuDeviceGet(ctypes.byref(device), 0),
        driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device),
        driver.cuCtxSetCurrent(context),
    ):
        if status:
            raise SystemExit(f"no context on device 0: CUresult {status}")


def main(path: str) -> None:
    """Encode all maps and write them to `path`."""
    driver = ctypes.CDLL("libcuda.so.1")
    if status := driver.cuInit(0):
        raise SystemExit(f"cuInit: CUresult {status}")
    _enter_context(driver)
    version = ctypes.c_int()
    driver.cuDriverGetVersion(ctypes.byref(version))
    rng = random.Random(90)
    maps = [BASE, *(BASE | change for change in VARIANTS), *(random_map(rng) for _ in range(200))]
    im2col = [_im2col_map(*case) for case in IM2COL]
    rows = [json.dumps(m | {"bytes": encode(driver, m)}) for m in maps]
    others = [json.dumps(m | {"bytes": encode_im2col(driver, m)}) for m in im2col]
    lines = ",\n  ".join(rows), ",\n  ".join(others)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(
        f'{{"cuda": {version.value},\n "maps": [\n  {lines[0]}],\n "im2col": [\n  {lines[1]}]}}\n'
    )
    print(f"{sum('null' not in row for row in rows)} of {len(rows)} maps encoded")


if __name__ == "__main__":
    main(sys.argv[1])
