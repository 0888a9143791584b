"""Small kernels as text, for tests of the commands that run them."""

TYPES = """
!tile = tensor<64xf32>
!window = !nv_tileas.tiled_view<64xf32, gmem>
!vector = memref<?xf32>
#ldg = #nv_tileas<atom ldg>
#stg = #nv_tileas<atom stg>
#free = array<i1: false>
#zero = 0.0 : f32
"""

ADD = """
func.func @add(%a: !vector, %b: !vector, %c: !vector) {
  %zero = arith.constant 0 : index
  %size = arith.constant 64 : index
  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %first = arith.muli %block, %size : index
  %of_a = nv_tileas.view %a[%first] : !vector -> !window
  %of_b = nv_tileas.view %b[%first] : !vector -> !window
  %of_c = nv_tileas.view %c[%first] : !vector -> !window
  %x = nv_tileas.tiled_load %of_a[%zero] {atom = #ldg, in_bounds = #free, padding_value = #zero}
    : !window -> !tile
  %y = nv_tileas.tiled_load %of_b[%zero] {atom = #ldg, in_bounds = #free, padding_value = #zero}
    : !window -> !tile
  %sum = arith.addf %x, %y : !tile
  nv_tileas.tiled_store %sum, %of_c[%zero] {atom = #stg} : !tile, !window
  func.return
}
"""
"""c = a + b; a block for 64 elements."""

SHIFT = """
func.func @shift(%a: !vector, %b: !vector, %n: index) {
  %zero = arith.constant 0 : index
  %of_a = nv_tileas.view %a[%n] : !vector -> !window
  %of_b = nv_tileas.view %b[%zero] : !vector -> !window
  %x = nv_tileas.tiled_load %of_a[%zero] {atom = #ldg} : !window -> !tile
  nv_tileas.tiled_store %x, %of_b[%zero] {atom = #stg} : !tile, !window
  func.return
}
"""
"""b = a[n : n + 64]."""

DIVIDE = """
func.func @divide(%a: i32, %b: i32) {
  %q = arith.divsi %a, %b : i32
  func.return
}
"""
"""Nothing but a division, which fails if b is 0."""
