"""How fast `nv_tileas` text is parsed, verified, printed and cloned: a part of `compile.py`."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.results import Row
from benchmarks.running import median_seconds
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.verification.verify import verify_errors
from tileas_xdsl.installed import registered_context
from tileas_xdsl.printing import module_text

OPERATIONS = 5000

HEAD = """
#smem = #nv_tileas.shared<(128,64),(64,1),swizzle<3,4,3>>
!view = !nv_tileas.tiled_view<128x64xf16, gmem>
!tile = tensor<128x64xf16>
func.func @kernel(%src: !view, %i: index) {
"""

BODY = """
  %t{n} = nv_tileas.tiled_load %src[%i, %i] {{atom = #nv_tileas<atom ldg>}} : !view -> !tile
  %c{n} = nv_tileas.convert_layout %t{n} : !tile -> tensor<128x64xf16, #smem>
  %s{n} = nv_tileas.extract_slice %c{n}[0, 0][64, 64][1, 1] : tensor<128x64xf16, #smem> to tensor<64x64xf16, #smem>
  %e{n} = nv_tileas.convert_layout %s{n} : tensor<64x64xf16, #smem> -> tensor<64x64xf16>
"""


def ir_rows(repeat: int, operations: int = OPERATIONS) -> Iterator[Row]:
    """Operations in a second, of a module that has so many."""
    count = operations // 4
    text = HEAD + "".join(BODY.format(n=n) for n in range(count)) + "  func.return\n}\n"
    ctx = registered_context()
    module = parse_module(ctx, text, "bench.mlir")
    assert not verify_errors(module)
    steps = {
        "parse": lambda: parse_module(ctx, text, "bench.mlir"),
        "verify, dominance included": lambda: verify_errors(module),
        "print": lambda: module_text(module, {}),
        "clone": lambda: module.clone(),
    }
    made = sum(1 for _ in module.walk())
    for name, run in steps.items():
        seconds = median_seconds(repeat, run)
        yield Row("IR", f"{name}, {made} operations", made / seconds, "operations/s")
