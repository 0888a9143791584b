// `tileas-generate-schedule`: the published worked examples, in the model of 24 issue slots.

// RUN: tileas-opt %s -p "tileas-generate-schedule{model=slots}" --split-input-file | filecheck %s
// RUN: tileas-opt %s -p "tileas-generate-schedule{model=slots},tileas-generate-schedule{model=slots}" --split-input-file | filecheck %s

// A load holds the TMA unit and the write port of shared memory for 8 cycles, a product the tensor
// core for 8; its results are there 8 cycles later, and the next product adds to them.  Both bounds
// are 8, so that L runs in stage 0 and M in stage 1: L(0); M(i), L(i + 1); M(n - 1), in two buffers.

func.func @load_and_product(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  func.return %sum : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @load_and_product
// CHECK:       %x = nv_tileas.tiled_load %a[%zero, %k] {tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer", unit = "tma"}, nv_tile.aws.stage = 0 : i32, nv_tile.aws.order = 0 : i32
// CHECK:       %n = nv_tileas.dot %x, %x, %acc {tileas.schedule = {stage = 1 : i32, order = 0 : i32, start = 8 : i32, role = "consumer", unit = "tensor_core"}, nv_tile.aws.stage = 1 : i32, nv_tile.aws.order = 0 : i32
// CHECK:       } {tileas.schedule = {ii = 8 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32, replicas = 1 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 1 : i32}], buffers = [{value = 0 : i32, stages = 2 : i32}]}}

// -----

// R reads shared memory for 7 cycles behind the load: the interval stays 8.

func.func @with_a_read(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %r = nv_tileas.convert_layout %x : tensor<64x64xf16, #nv_tileas<space smem>> -> tensor<64x64xf16, #nv_tileas<space rmem>>
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  func.return %sum : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @with_a_read
// CHECK:       nv_tileas.tiled_load {{.*}} {tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer", unit = "tma"}
// CHECK:       nv_tileas.convert_layout %x {tileas.schedule = {stage = 1 : i32, order = 0 : i32, start = 8 : i32, role = "consumer", unit = "shared_memory"}
// CHECK:       nv_tileas.dot {{.*}} {tileas.schedule = {stage = 1 : i32, order = 1 : i32, start = 8 : i32, role = "consumer", unit = "tensor_core"}
// CHECK:       } {tileas.schedule = {ii = 8 : i32

// -----

// W writes shared memory in front of the product, which the load does too: 8 + 7 cycles of the port
// are the interval.  In a round, the product of one iteration goes before the write of the next.

func.func @with_a_write(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %w = nv_tileas.convert_layout %x : tensor<64x64xf16, #nv_tileas<space smem>> -> tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>
    %n = nv_tileas.dot %w, %w, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>, tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  func.return %sum : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @with_a_write
// CHECK:       nv_tileas.tiled_load {{.*}} {tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer", unit = "tma"}
// CHECK:       nv_tileas.convert_layout %x {tileas.schedule = {stage = 0 : i32, order = 1 : i32, start = 8 : i32, role = "consumer", unit = "shared_memory"}
// CHECK:       nv_tileas.dot {{.*}} {tileas.schedule = {stage = 1 : i32, order = 0 : i32, start = 15 : i32, role = "consumer", unit = "tensor_core"}
// CHECK:       } {tileas.schedule = {ii = 15 : i32
