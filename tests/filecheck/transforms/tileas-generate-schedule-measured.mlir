// `tileas-generate-schedule` in cycles measured on GPUs: a product, attention, a stream, and pins.

// RUN: tileas-opt %s -p tileas-generate-schedule --split-input-file | filecheck %s
// RUN: tileas-opt %s -p tileas-generate-schedule,tileas-generate-schedule --split-input-file | filecheck %s

// The copy of 8192 bytes takes 158 cycles of the path from L2, the product 128 of the tensor core:
// the copy binds.  It begins 863 cycles before it is read, so that seven tiles are under way.

func.func @product(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  func.return %sum : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @product
// CHECK:       nv_tileas.tiled_load {{.*}} {tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = {{[0-9]+}} : i32, role = "producer", unit = "tma"}
// CHECK:       nv_tileas.dot {{.*}} {tileas.schedule = {stage = 6 : i32, order = 0 : i32, start = 948 : i32, role = "consumer", unit = "tensor_core"}
// CHECK:       } {tileas.schedule = {ii = 158 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32, replicas = 1 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 1 : i32}], buffers = [{value = 0 : i32, stages = 8 : i32}]}}

// -----

// What is there is kept: the product in stage 2, three buffers, and an interval for which they do.

func.func @pinned(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 2 : i32}} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } {tileas.schedule = {ii = 512 : i32, buffers = [{value = 0 : i32, stages = 3 : i32}]}}
  func.return %sum : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @pinned
// CHECK:       nv_tileas.dot {{.*}} {tileas.schedule = {stage = 2 : i32, order = 0 : i32, start = {{1[0-9]+}} : i32, role = "consumer"
// CHECK:       } {tileas.schedule = {ii = 512 : i32, {{.*}} buffers = [{value = 0 : i32, stages = 3 : i32}]}}

// -----

// No overlap where an operation asks for none; each waits for the one before.

func.func @serial(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule.constraint.force_serial_execution} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  func.return %sum : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @serial
// CHECK:       nv_tileas.tiled_load {{.*}} {tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer"
// CHECK:       nv_tileas.dot {{.*}} tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 863 : i32, role = "consumer"
// CHECK:       } {tileas.schedule = {ii = {{[0-9]+}} : i32, {{.*}} buffers = [{value = 0 : i32, stages = 1 : i32}]}}

// -----

// The depth of an operation, its start over the interval, is bounded: a longer interval.

func.func @shallow(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule.constraint.max_depth = 1 : i32} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  func.return %sum : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @shallow
// CHECK:       nv_tileas.dot {{.*}} tileas.schedule = {stage = 1 : i32

// -----

// Operations of one leader's group run at one depth.

func.func @grouped(%a: !nv_tileas.tiled_view<64x64xf16, gmem>, %first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule.constraint.gid = 1 : i32, tileas.schedule.constraint.leader_gid = 1 : i32} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16, #nv_tileas<space smem>>
    %n = nv_tileas.dot %x, %x, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule.constraint.gid = 2 : i32, tileas.schedule.constraint.leader_gid = 1 : i32} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  func.return %sum : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @grouped
// CHECK:       nv_tileas.tiled_load {{.*}} tileas.schedule = {stage = 0 : i32
// CHECK:       nv_tileas.dot {{.*}} tileas.schedule = {stage = 0 : i32

// -----

// Attention: two consumers of 64 rows share the tensor core, which is never idle: both products
// take 1024 of each consumer's 1024 cycles.  The scores of the next keys are computed (order 0)
// before the values of these (order 1, one stage later), and softmax runs under both.

func.func @attention(%q: tensor<128x128xf16, #nv_tileas<space smem>>, %ks: !nv_tileas.tiled_view<128x128xf16, gmem>, %vs: !nv_tileas.tiled_view<128x128xf16, gmem>, %acc0: tensor<128x128xf32>, %max0: tensor<128x1xf32>, %bias: tensor<128x128xf32>, %count: index) -> (tensor<128x128xf32>, tensor<128x1xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nothing = arith.constant dense<0.0> : tensor<128x128xf32>
  %scale = arith.constant dense<0.125> : tensor<128x128xf32>
  %out, %last, %all = scf.for %j = %zero to %count step %one iter_args(%acc = %acc0, %most = %max0, %total = %max0) -> (tensor<128x128xf32>, tensor<128x1xf32>, tensor<128x1xf32>) {
    %keys = nv_tileas.tiled_load %ks[%zero, %j] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<128x128xf16, gmem> -> tensor<128x128xf16, #nv_tileas<space smem>>
    %scores = nv_tileas.dot %q, %keys, %nothing {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x128xf16, #nv_tileas<space smem>>, tensor<128x128xf16, #nv_tileas<space smem>>, tensor<128x128xf32> -> tensor<128x128xf32>
    %plain = arith.mulf %scores, %scale : tensor<128x128xf32>
    %scaled = arith.addf %plain, %bias : tensor<128x128xf32>
    %top = nv_tileas.reduce %scaled {axis = 1 : i32} : tensor<128x128xf32> -> tensor<128xf32> {
    ^bb0(%l: f32, %r: f32):
      %greater = arith.maxnumf %l, %r : f32
      nv_tileas.yield %greater : f32
    }
    %column = nv_tileas.expand_dims %top {axis = 1 : i32} : tensor<128xf32> -> tensor<128x1xf32>
    %now = arith.maxnumf %most, %column : tensor<128x1xf32>
    %rows = nv_tileas.generate : tensor<128x128xf32> {
    ^bb0(%i: index, %c: index):
      %origin = arith.constant 0 : index
      %element = tensor.extract %now[%i, %origin] : tensor<128x1xf32>
      nv_tileas.yield %element : f32
    }
    %below = arith.subf %scaled, %rows : tensor<128x128xf32>
    %powers = math.exp2 %below : tensor<128x128xf32>
    %difference = arith.subf %most, %now : tensor<128x1xf32>
    %fading = math.exp2 %difference : tensor<128x1xf32>
    %row = nv_tileas.reduce %powers {axis = 1 : i32} : tensor<128x128xf32> -> tensor<128xf32> {
    ^bb0(%l: f32, %r: f32):
      %both = arith.addf %l, %r : f32
      nv_tileas.yield %both : f32
    }
    %more = nv_tileas.expand_dims %row {axis = 1 : i32} : tensor<128xf32> -> tensor<128x1xf32>
    %next = math.fma %total, %fading, %more : tensor<128x1xf32>
    %weights = arith.truncf %powers : tensor<128x128xf32> to tensor<128x128xf16>
    %values = nv_tileas.tiled_load %vs[%j, %zero] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<128x128xf16, gmem> -> tensor<128x128xf16, #nv_tileas<space smem>>
    %fades = nv_tileas.generate : tensor<128x128xf32> {
    ^bb0(%i: index, %c: index):
      %origin = arith.constant 0 : index
      %element = tensor.extract %fading[%i, %origin] : tensor<128x1xf32>
      nv_tileas.yield %element : f32
    }
    %faded = arith.mulf %acc, %fades : tensor<128x128xf32>
    %sum = nv_tileas.dot %weights, %values, %faded {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x128xf16>, tensor<128x128xf16, #nv_tileas<space smem>>, tensor<128x128xf32> -> tensor<128x128xf32>
    scf.yield %sum, %now, %next : tensor<128x128xf32>, tensor<128x1xf32>, tensor<128x1xf32>
  }
  func.return %out, %last : tensor<128x128xf32>, tensor<128x1xf32>
}

// CHECK-LABEL: func.func @attention
// CHECK:       %keys = nv_tileas.tiled_load {{.*}} role = "producer", unit = "tma"}
// CHECK:       %scores = nv_tileas.dot {{.*}} {tileas.schedule = {stage = 1 : i32, order = 0 : i32, start = 2048 : i32, role = "consumer", unit = "tensor_core"}
// CHECK:       %plain = arith.mulf {{.*}} {tileas.schedule = {stage = 1 : i32, order = 2 : i32
// CHECK:       %powers = math.exp2 {{.*}} {tileas.schedule = {stage = 1 : i32, order = 5 : i32, {{.*}} unit = "mufu"}
// CHECK:       %sum = nv_tileas.dot {{.*}} {tileas.schedule = {stage = 2 : i32, order = 1 : i32, start = 4608 : i32, role = "consumer", unit = "tensor_core"}
// CHECK:       } {tileas.schedule = {ii = 2048 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32, replicas = 1 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 2 : i32}], buffers = [{value = 0 : i32, stages = 2 : i32}, {value = 1 : i32, stages = 3 : i32}]}}

// -----

// A stream without a product or TMA: one role, whose loads run ahead of what reads them.

func.func @stream(%a: !nv_tileas.tiled_view<16x256xf32, gmem>, %first: tensor<16x256xf32>, %count: index) -> tensor<16x256xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<16x256xf32>) {
    %x = nv_tileas.tiled_load %a[%zero, %k] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<16x256xf32, gmem> -> tensor<16x256xf32>
    %e = math.exp2 %x : tensor<16x256xf32>
    %n = arith.addf %acc, %e : tensor<16x256xf32>
    scf.yield %n : tensor<16x256xf32>
  }
  func.return %sum : tensor<16x256xf32>
}

// CHECK-LABEL: func.func @stream
// CHECK:       nv_tileas.tiled_load {{.*}} {tileas.schedule = {stage = 0 : i32, {{.*}} role = "consumer", unit = "global_memory"}
// CHECK:       math.exp2 {{.*}} {tileas.schedule = {stage = {{[1-9]}} : i32, {{.*}} role = "consumer"
// CHECK:       roles = [{name = "consumer", warps = 4 : i32

// -----

// What has no schedule says why.

func.func @scalars(%first: tensor<64x64xf32>, %count: index) -> tensor<64x64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %sum = scf.for %k = %zero to %count step %one iter_args(%acc = %first) -> (tensor<64x64xf32>) {
    %n = arith.addf %acc, %acc : tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  func.return %sum : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @scalars
// CHECK:       } {nv_tileas.not_scheduled = "it neither loads nor multiplies tiles, so nothing can overlap"}
