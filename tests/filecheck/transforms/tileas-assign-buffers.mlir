// `tileas-assign-buffers`: stages, offsets and barriers of loops that are scheduled.

// RUN: tileas-opt %s -p "tileas-assign-buffers{spare=1}" --split-input-file 2>/dev/null | filecheck %s
// RUN: tileas-opt %s -p "tileas-assign-buffers{spare=1}" --split-input-file --verify-diagnostics

// A tile is written from cycle 140 on, and has been read at cycle 1285: tiles of two iterations of
// 1024 cycles are alive at once.  One more stage is to spare.

func.func @stages(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 140 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 0 : i32, start = 1024 : i32, role = "consumer", unit = "tensor_core"}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 1024 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32, replicas = 1 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 1 : i32}]}}
  func.return %sum : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @stages
// CHECK:       buffers = [{value = 0 : i32, stages = 3 : i32, offset = 0 : i32}]}}

// -----

// Two replicas take turns on the tensor core, at named barriers 14 and 15; the second one runs half
// an interval behind, and reads later.

func.func @turns(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 140 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 0 : i32, start = 1024 : i32, role = "consumer", unit = "tensor_core"}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 1024 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32, replicas = 1 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 2 : i32}]}}
  func.return %sum : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @turns
// CHECK:       buffers = [{value = 0 : i32, stages = 3 : i32, offset = 0 : i32}], turns = array<i32: 14, 15>}}

// -----

// Tiles that are never alive in the same cycle of a round share their bytes.

func.func @sharing(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %m = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 900 : i32, role = "consumer", unit = "tensor_core"}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    // expected-remark @+1 {{share pipeline buffer}}
    %y = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 1 : i32, start = 1400 : i32, role = "producer", unit = "tma"}} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %y, %y, %m {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 0 : i32, order = 1 : i32, start = 2300 : i32, role = "consumer", unit = "tensor_core"}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 2800 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32, replicas = 1 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 1 : i32}], buffers = [{value = 0 : i32, stages = 1 : i32}, {value = 1 : i32, stages = 1 : i32}]}}
  func.return %sum : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @sharing
// CHECK:       buffers = [{value = 0 : i32, stages = 1 : i32, offset = 0 : i32}, {value = 1 : i32, stages = 1 : i32, offset = 0 : i32}]
