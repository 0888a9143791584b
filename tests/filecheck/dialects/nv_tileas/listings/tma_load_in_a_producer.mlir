// Operation Roster, "Worked Example": the TMA load of the producer region.
//
// Completed: the barrier operand, whose type the listing has, and the second coordinate that an atom
// of rank 2 needs; so `operandSegmentSizes` has a 2.  The stage is a view here, as its type says.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

func.func @produce(%tma_desc: !nv_tileas.tma_desc, %stage_buf: !nv_tileaa.tiled_view<128x128xf16>, %k_outer: index, %j: index, %barrier: !nv_tileaa.mem_token) {
  %async_tok = nv_tileas.async.tiled_tma_load
      %tma_desc, %stage_buf[%k_outer, %j] barrier %barrier
      { atom = #nv_tileas<atom tma_load_2d>,
        operandSegmentSizes = array<i32: 1, 1, 2, 1> }
    : !cute_nvgpu.tma_descriptor_tiled, !nv_tileaa.tiled_view<128x128xf16>,
      index, index, !nv_tileaa.mem_token
    -> !async.value<tile<128x128xf16>>
  func.return
}

// CHECK-LABEL: func.func @produce(%tma_desc: !nv_tileas.tma_desc, %stage_buf: !nv_tileaa.tiled_view<128x128xf16>, %k_outer: index, %j: index, %barrier: !nv_tileaa.mem_token) {
// CHECK-NEXT:    %async_tok = nv_tileas.async.tiled_tma_load %tma_desc, %stage_buf[%k_outer, %j] barrier %barrier {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tma_desc, !nv_tileaa.tiled_view<128x128xf16>, index, index, !nv_tileaa.mem_token -> !nv_tileas.token<tensor<128x128xf16>>
// CHECK-NEXT:    func.return
// CHECK-NEXT:  }
