"""Random layouts of fragments, and programs that reduce, scan and convert what they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tests.transforms.lower_tl.tl_kernels import Array, TlCase

Shape = tuple[int, ...]
Expected = Callable[[Sequence[Any]], Sequence[Array]]

TYPES: Mapping[str, tuple[Any, float]] = {
    "f32": (np.float32, 1e-4),
    "f16": (np.float16, 4e-2),
    "f64": (np.float64, 1e-9),
    "i32": (np.int32, 0),
    "i8": (np.int8, 0),
}
"""By element, that of numpy and how far results may be apart."""

COMBINED: Mapping[str, tuple[Any, Any]] = {
    "sum": (np.add, np.asarray),
    "max": (np.maximum, np.asarray),
    "min": (np.minimum, np.asarray),
    "prod": (np.multiply, np.asarray),
    "abssum": (np.add, np.abs),
    "absmax": (np.maximum, np.abs),
}

OF_BITS: Mapping[str, tuple[Any, Any]] = {
    "and": (np.bitwise_and, np.asarray),
    "or": (np.bitwise_or, np.asarray),
    "xor": (np.bitwise_xor, np.asarray),
}

MOST_SLOTS_BITS = 7


def random_layout(rng: np.random.Generator, shape: Shape, threads: int) -> str:
    """Bits of coordinates dealt out to bits of the thread and of the slot; some are copies."""
    bits = [(d, i) for d, n in enumerate(shape) for i in range(n.bit_length() - 1)]
    rng.shuffle(bits)
    places = [1 << int(k) for k in rng.permutation(threads.bit_length() - 1)]
    least = max(len(bits) - MOST_SLOTS_BITS, 0)
    count = max(min(len(bits), int(rng.integers(0, len(places) + 1))), least)
    digits = [f"(d{d} floordiv {1 << i} mod 2)" for d, i in bits]
    thread = [f"{digit} * {places.pop()}" for digit in digits[:count]]
    slot = [f"{digit} * {1 << k}" for k, digit in enumerate(digits[count:])]
    copies = int(rng.integers(0, len(places) + 1)) if rng.random() < 0.6 else 0
    thread += [f"(s0 floordiv {1 << k} mod 2) * {places.pop()}" for k in range(copies)]
    names = ", ".join(f"d{k}" for k in range(len(shape)))
    symbols = "[s0]" if copies else ""
    results = f"{' + '.join(thread) or '0'}, {' + '.join(slot) or '0'}"
    replicas = f", replicas = {1 << copies}" if copies else ""
    return f"#tl.fragment<affine_map<({names}){symbols} -> ({results})>{replicas}>"


@dataclass(frozen=True)
class Drawn:
    """What is drawn before a program is."""

    rng: np.random.Generator
    shape: Shape
    threads: int
    element: str

    @staticmethod
    def of(seed: int) -> Drawn:
        """A tile of up to 4096 elements."""
        rng = np.random.default_rng(seed)
        shape = tuple(1 << int(k) for k in rng.integers(0, 5, int(rng.integers(1, 4))))
        return Drawn(rng, shape, int(rng.choice([32, 64, 128])), str(rng.choice([*TYPES])))

    def numbers(self, rng: np.random.Generator, shape: Shape) -> Array:
        """Small numbers of the element."""
        if self.element.startswith("f"):
            return rng.standard_normal(shape).astype(TYPES[self.element][0])
        return rng.integers(-7, 8, shape).astype(TYPES[self.element][0])

    def case(self, middle: str, out: Shape, expected: Expected) -> TlCase:
        """A program that does something between two fragments, %f and %g."""
        memory, into = (f"{'x'.join(map(str, (*s, self.element)))}" for s in (self.shape, out))
        layouts = [random_layout(self.rng, s, self.threads) for s in (self.shape, out)]
        middle = middle.replace("SOURCE", memory).replace("TARGET", into)
        text = f"""
func.func @drawn(%A: memref<{memory}>, %B: memref<{into}>, %C: memref<{into}>) {{
  tl.kernel threads({self.threads}) {{
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %f = tl.alloc_fragment {{layout = {layouts[0]}}} : memref<{memory}, F>
    %g = tl.alloc_fragment {{layout = {layouts[1]}}} : memref<{into}, F>
    tl.serial %k = %c0 to %c2 {{
      tl.copy %A to %f : memref<{memory}> to memref<{memory}, F>
      tl.copy %B to %g : memref<{into}> to memref<{into}, F>
      {middle}
    }}
    tl.copy %g to %C : memref<{into}, F> to memref<{into}>
  }}
  func.return
}}"""

        def arguments(rng: np.random.Generator) -> Sequence[Array]:
            shapes = (self.shape, out, out)
            return [self.numbers(rng, shape) for shape in shapes]

        tolerance = TYPES[self.element][1]
        return TlCase("drawn", text, arguments, expected, changed=(2,), tolerance=tolerance)


def conversion(seed: int) -> TlCase:
    """One fragment in the layout of another."""
    drawn = Drawn.of(seed)
    middle = "tl.convert_layout %f to %g : memref<SOURCE, F> to memref<TARGET, F>"
    return drawn.case(middle, drawn.shape, lambda given: (given[0],))


def reduction(seed: int) -> TlCase:
    """Rows along any axis combined, perhaps onto what is there."""
    drawn = Drawn.of(seed)
    rng, axis = drawn.rng, int(drawn.rng.integers(len(drawn.shape)))
    kinds = COMBINED if drawn.element.startswith("f") else {**COMBINED, **OF_BITS}
    kind, clear = str(rng.choice([*kinds])), bool(rng.random() < 0.7)
    keep = len(drawn.shape) == 1 or bool(rng.random() < 0.4)
    out = (*drawn.shape[:axis], *((1,) if keep else ()), *drawn.shape[axis + 1 :])
    flags = f"{{{'keep_dims, ' if keep else ''}clear = {str(clear).lower()}}}"
    middle = (
        f"tl.reduce {kind} %f to %g axis {axis} {flags} : memref<SOURCE, F> to memref<TARGET, F>"
    )
    return drawn.case(middle, out, partial(_reduced, kinds[kind], axis, clear))


def _reduced(kind: Any, axis: int, clear: bool, given: Sequence[Array]) -> Sequence[Array]:
    combine, prepared = kind
    source, before, _ = given
    wide = np.float64 if source.dtype.kind == "f" else np.int64
    rows = combine.reduce(prepared(source.astype(wide)), axis).reshape(before.shape)
    found = rows if clear else combine(rows, before.astype(wide))
    return (found.astype(source.dtype),)


def scan(seed: int) -> TlCase:
    """Running sums along any axis, of fragments or of shared memory."""
    drawn = Drawn.of(seed)
    axis, reverse = int(drawn.rng.integers(len(drawn.shape))), bool(drawn.rng.random() < 0.5)
    source, target = (str(drawn.rng.choice(["F", "S"])) for _ in range(2))
    flags = "{reverse}" if reverse else ""
    x, y = ("%f" if source == "F" else "%s"), ("%g" if target == "F" else "%t")
    middle = f"""%s = tl.alloc_shared : memref<SOURCE, S>
      %t = tl.alloc_shared : memref<SOURCE, S>
      tl.copy %f to %s : memref<SOURCE, F> to memref<SOURCE, S>
      tl.cumsum {x} to {y} axis {axis} {flags}
          : memref<SOURCE, {source}> to memref<TARGET, {target}>"""
    if target == "S":
        middle += "\n      tl.copy %t to %g : memref<SOURCE, S> to memref<TARGET, F>"
    return drawn.case(middle, drawn.shape, partial(_scanned, axis, reverse))


def _scanned(axis: int, reverse: bool, given: Sequence[Array]) -> Sequence[Array]:
    source = given[0]
    wide = source.astype(np.float64 if source.dtype.kind == "f" else np.int64)
    if reverse:
        return (np.flip(np.cumsum(np.flip(wide, axis), axis), axis).astype(source.dtype),)
    return (np.cumsum(wide, axis).astype(source.dtype),)
