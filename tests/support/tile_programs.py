"""Tile IR modules for tests without the cuda-tile package: text and bytecode."""

from functools import cache

from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.frontend.bytecode.layout import LATEST, Version
from tileas_xdsl.frontend.bytecode.writing.writer import write_bytecode
from tileas_xdsl.installed import registered_context
from tileas_xdsl.printing import module_text

PROGRAM = """
cuda_tile.module @kernels {
  global @table alignment = 16 <f32: [0.5, -1.5]> : tile<2xf32>
  global @same <i1: true> : tile<16xi1>

  entry @first(%p: tile<ptr<f32>>, %n: tile<i32>) optimization_hints=<sm_90 = {occupancy = 2}> {
    %zero = constant <f32: 0.0> : tile<8x16xf32>
    %mask = constant <i1: [true, false, true, true]> : tile<4xi1>
    %low = constant <i32: 0> : tile<i32>
    %high = assume bounded<0, 1024>, %n : tile<i32>
    %step = constant <i32: 1> : tile<i32>
    %base = assume div_by<16>, %p : tile<ptr<f32>>
    %view = make_tensor_view %base, shape = [%high, 16], strides = [16, 1]
      : tile<i32> -> tensor_view<?x16xf32, strides=[16,1]>
    %tiles = make_partition_view %view
      : partition_view<tile=(8x16), padding_value = zero, tensor_view<?x16xf32, strides=[16,1]>>
    %token = make_token : token
    %sum, %last = for %i in (%low to %high, step %step) : tile<i32>
        iter_values(%acc = %zero, %before = %token) -> (tile<8x16xf32>, token) {
      %t, %after = load_view_tko weak %tiles[%i, %low] token = %before
        : partition_view<tile=(8x16), padding_value = zero,
          tensor_view<?x16xf32, strides=[16,1]>>, tile<i32>
        -> tile<8x16xf32>, token
      %next = addf %acc, %t rounding<nearest_even> : tile<8x16xf32>
      continue %next, %after : tile<8x16xf32>, token
    }
    %row = reduce %sum dim=1 identities=[0.0 : f32] : tile<8x16xf32> -> tile<8xf32>
      (%a: tile<f32>, %b: tile<f32>) {
        %c = addf %a, %b rounding<nearest_even> : tile<f32>
        yield %c : tile<f32>
      }
    print_tko "sum %f\\n", %row : tile<8xf32> -> token
    return
  }

  entry @second() {
    %address = get_global @table : tile<ptr<f32>>
    return
  }
}
"""


def parsed(text: str, name: str = "program.mlir") -> ModuleOp:
    """Return the verified module of a text."""
    module = parse_module(registered_context(), text, name)
    verify_module(module)
    return module


def printed(module: ModuleOp) -> str:
    """Print the module without value names, which bytecode does not store."""
    module = module.clone()
    for op in module.walk():
        for block in (block for region in op.regions for block in region.blocks):
            for argument in block.args:
                argument.name_hint = None
        for result in op.results:
            result.name_hint = None
    return module_text(module, {})


@cache
def program_bytecode(version: Version = LATEST) -> bytes:
    """Return `PROGRAM` as bytecode."""
    return write_bytecode(parsed(PROGRAM), version)
