// `tileas-materialize-schedule`: write a loop as its schedule says: rings of stages, rotated iterations.

// RUN: tileas-opt -p tileas-materialize-schedule --split-input-file %s | filecheck %s
// RUN: tileas-opt -p "tileas-materialize-schedule{rotate=false}" --split-input-file %s | filecheck %s --check-prefix=FLAT

// Two chained products, the second one scheduled a round later. Each loaded tile has a ring of its
// own; the loop of the consumers is rotated: the first product of the next round stands in front of
// the second product of this one, and what lies between crosses by the loop.

// CHECK-LABEL: func.func @chained
// CHECK: create_pipeline %{{.*}} {{.*}}numStages = 2
// CHECK: create_pipeline %{{.*}} {{.*}}numStages = 3
// CHECK: agent_switch {{.*}}max_regs = array<i32: 40, 232>{{.*}}num_warps = array<i32: 4, 8>{{.*}} agent 0 {
// CHECK: scf.for
// CHECK: produce_one_async {{.*}}tensor<64x32xf16>
// CHECK: produce_one_async {{.*}}tensor<32x16xf16>
// CHECK: }, agent 1 {
// CHECK: %[[some:.*]] = arith.cmpi slt
// CHECK: scf.if %[[some]]
// CHECK: consumer_wait
// CHECK: consumer_read {{.*}}tensor<128x32xf32> {
// CHECK: consumer_release
// CHECK: arith.truncf
// CHECK: %[[last:.*]] = arith.subi
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[last]] {{.*}}tensor<128x32xf16>) {
// CHECK: %[[scores:.*]] = nv_tileas.async.pipeline.consumer_read
// CHECK: consumer_release
// CHECK: consumer_read {{.*}}tensor<128x16xf32> {
// CHECK: consumer_release
// CHECK: arith.truncf
// CHECK: scf.yield
// CHECK: consumer_read {{.*}}tensor<128x16xf32> {
// CHECK: else
// CHECK-NOT: tileas.schedule

// FLAT-LABEL: func.func @chained
// FLAT-NOT: scf.if
// FLAT: agent 1
// FLAT: scf.for
// FLAT: consumer_release
// FLAT: arith.truncf
// FLAT: consumer_read
// FLAT: consumer_release
func.func @chained(%q: memref<?x?xf16>, %k: memref<?x?xf16>, %v: memref<?x?xf16>, %o: memref<?x?xf32>, %n: index)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %vq = nv_tileas.view %q : memref<?x?xf16> -> !nv_tileas.tiled_view<128x64xf16, gmem>
  %vk = nv_tileas.view %k : memref<?x?xf16> -> !nv_tileas.tiled_view<64x32xf16, gmem>
  %vv = nv_tileas.view %v : memref<?x?xf16> -> !nv_tileas.tiled_view<32x16xf16, gmem>
  %vo = nv_tileas.view %o : memref<?x?xf32> -> !nv_tileas.tiled_view<128x16xf32, gmem>
  %a = nv_tileas.tiled_load %vq[%zero, %zero] {atom = #nv_tileas<atom tma_load_2d>}
    : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16, #nv_tileas<space smem>>
  %none = arith.constant dense<0.0> : tensor<128x32xf32>
  %start = arith.constant dense<0.0> : tensor<128x16xf32>
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %start) -> (tensor<128x16xf32>) {
    %x = nv_tileas.tiled_load %vk[%zero, %i] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer", unit = "tma"}}
      : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16, #nv_tileas<space smem>>
    %s = nv_tileas.dot %a, %x, %none {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 0 : i32, order = 1 : i32, start = 8 : i32, role = "consumer", unit = "tensor_core"}}
      : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x32xf16, #nv_tileas<space smem>>, tensor<128x32xf32> -> tensor<128x32xf32>
    %p = arith.truncf %s {tileas.schedule = {stage = 0 : i32, order = 3 : i32, start = 24 : i32, role = "consumer", unit = "issue"}} : tensor<128x32xf32> to tensor<128x32xf16>
    %y = nv_tileas.tiled_load %vv[%i, %zero] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 1 : i32, start = 8 : i32, role = "producer", unit = "tma"}}
      : !nv_tileas.tiled_view<32x16xf16, gmem> -> tensor<32x16xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %p, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 2 : i32, start = 48 : i32, role = "consumer", unit = "tensor_core"}}
      : tensor<128x32xf16>, tensor<32x16xf16, #nv_tileas<space smem>>, tensor<128x16xf32> -> tensor<128x16xf32>
    scf.yield %next : tensor<128x16xf32>
  } {tileas.schedule = {ii = 32 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32, replicas = 1 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 2 : i32}], buffers = [{value = 0 : i32, stages = 2 : i32}, {value = 1 : i32, stages = 3 : i32}]}}
  nv_tileas.tiled_store %sum, %vo[%zero, %zero] {atom = #nv_tileas<atom stg>}
    : tensor<128x16xf32>, !nv_tileas.tiled_view<128x16xf32, gmem>
  func.return
}

// -----

// Tiles that one product reads together fill the stages of one ring, and nothing is rotated where all
// operations of the consumers are in one stage.

// CHECK-LABEL: func.func @together
// CHECK: create_pipeline
// CHECK-NOT: create_pipeline
// CHECK: agent 1
// CHECK-NOT: scf.if
// CHECK: consumer_read {{.*}} {
// CHECK: ^{{.*}}(%{{.*}}: tensor<64x32xf16>, %{{.*}}: tensor<32x64xf16>):
func.func @together(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>, %n: index)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %va = nv_tileas.view %a : memref<?x?xf16> -> !nv_tileas.tiled_view<64x32xf16, gmem>
  %vb = nv_tileas.view %b : memref<?x?xf16> -> !nv_tileas.tiled_view<32x64xf16, gmem>
  %vc = nv_tileas.view %c : memref<?x?xf32> -> !nv_tileas.tiled_view<64x64xf32, gmem>
  %start = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %start) -> (tensor<64x64xf32>) {
    %x = nv_tileas.tiled_load %va[%zero, %i] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer", unit = "tma"}}
      : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16, #nv_tileas<space smem>>
    %y = nv_tileas.tiled_load %vb[%i, %zero] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 1 : i32, start = 8 : i32, role = "producer", unit = "tma"}}
      : !nv_tileas.tiled_view<32x64xf16, gmem> -> tensor<32x64xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %x, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 0 : i32, start = 32 : i32, role = "consumer", unit = "tensor_core"}}
      : tensor<64x32xf16, #nv_tileas<space smem>>, tensor<32x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  } {tileas.schedule = {ii = 32 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32, replicas = 1 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 1 : i32}], buffers = [{value = 0 : i32, stages = 2 : i32}, {value = 1 : i32, stages = 2 : i32}]}}
  nv_tileas.tiled_store %sum, %vc[%zero, %zero] {atom = #nv_tileas<atom stg>}
    : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem>
  func.return
}

// -----

// Replicas take turns where a schedule gives them barriers: the products of a round of the rotated
// loop are issued together.

// CHECK-LABEL: func.func @turns
// CHECK: nv_tileas.async.turn "open" {barriers = array<i32: 14, 15>}
// CHECK: scf.for
// CHECK: consumer_wait
// CHECK: nv_tileas.async.turn "take" {barriers = array<i32: 14, 15>}
// CHECK: consumer_read
// CHECK: nv_tileas.dot
// CHECK: consumer_wait
// CHECK: consumer_read
// CHECK: nv_tileas.dot
// CHECK: nv_tileas.async.turn "pass" {barriers = array<i32: 14, 15>}
// CHECK: arith.truncf
// CHECK: scf.yield
// CHECK: nv_tileas.async.turn "close" {barriers = array<i32: 14, 15>}
func.func @turns(%q: memref<?x?xf16>, %k: memref<?x?xf16>, %v: memref<?x?xf16>, %o: memref<?x?xf32>, %n: index)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %vq = nv_tileas.view %q : memref<?x?xf16> -> !nv_tileas.tiled_view<128x64xf16, gmem>
  %vk = nv_tileas.view %k : memref<?x?xf16> -> !nv_tileas.tiled_view<64x32xf16, gmem>
  %vv = nv_tileas.view %v : memref<?x?xf16> -> !nv_tileas.tiled_view<32x16xf16, gmem>
  %vo = nv_tileas.view %o : memref<?x?xf32> -> !nv_tileas.tiled_view<128x16xf32, gmem>
  %a = nv_tileas.tiled_load %vq[%zero, %zero] {atom = #nv_tileas<atom tma_load_2d>}
    : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16, #nv_tileas<space smem>>
  %none = arith.constant dense<0.0> : tensor<128x32xf32>
  %start = arith.constant dense<0.0> : tensor<128x16xf32>
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %start) -> (tensor<128x16xf32>) {
    %x = nv_tileas.tiled_load %vk[%zero, %i] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer", unit = "tma"}}
      : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16, #nv_tileas<space smem>>
    %s = nv_tileas.dot %a, %x, %none {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 0 : i32, order = 1 : i32, start = 8 : i32, role = "consumer", unit = "tensor_core"}}
      : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x32xf16, #nv_tileas<space smem>>, tensor<128x32xf32> -> tensor<128x32xf32>
    %p = arith.truncf %s {tileas.schedule = {stage = 0 : i32, order = 3 : i32, start = 24 : i32, role = "consumer", unit = "issue"}} : tensor<128x32xf32> to tensor<128x32xf16>
    %y = nv_tileas.tiled_load %vv[%i, %zero] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 1 : i32, start = 8 : i32, role = "producer", unit = "tma"}}
      : !nv_tileas.tiled_view<32x16xf16, gmem> -> tensor<32x16xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %p, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 2 : i32, start = 48 : i32, role = "consumer", unit = "tensor_core"}}
      : tensor<128x32xf16>, tensor<32x16xf16, #nv_tileas<space smem>>, tensor<128x16xf32> -> tensor<128x16xf32>
    scf.yield %next : tensor<128x16xf32>
  } {tileas.schedule = {ii = 32 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32, replicas = 1 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 2 : i32}], buffers = [{value = 0 : i32, stages = 2 : i32}, {value = 1 : i32, stages = 3 : i32}], turns = array<i32: 14, 15>}}
  nv_tileas.tiled_store %sum, %vo[%zero, %zero] {atom = #nv_tileas<atom stg>}
    : tensor<128x16xf32>, !nv_tileas.tiled_view<128x16xf32, gmem>
  func.return
}

// -----

// A loop that waits ahead: for the first stage of a round at the end of the round before, where there
// is one.

// CHECK-LABEL: func.func @ahead
// CHECK: %[[last:.*]] = arith.subi
// CHECK: scf.if
// CHECK-NEXT: inc_iter
// CHECK-NEXT: consumer_wait
// CHECK: scf.for
// CHECK-NOT: consumer_wait
// CHECK: consumer_read
// CHECK: arith.truncf
// CHECK: %[[more:.*]] = arith.cmpi slt, %{{.*}}, %[[last]]
// CHECK: scf.if %[[more]]
// CHECK-NEXT: inc_iter
// CHECK-NEXT: consumer_wait
// CHECK: scf.yield
func.func @ahead(%q: memref<?x?xf16>, %k: memref<?x?xf16>, %v: memref<?x?xf16>, %o: memref<?x?xf32>, %n: index)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %vq = nv_tileas.view %q : memref<?x?xf16> -> !nv_tileas.tiled_view<128x64xf16, gmem>
  %vk = nv_tileas.view %k : memref<?x?xf16> -> !nv_tileas.tiled_view<64x32xf16, gmem>
  %vv = nv_tileas.view %v : memref<?x?xf16> -> !nv_tileas.tiled_view<32x16xf16, gmem>
  %vo = nv_tileas.view %o : memref<?x?xf32> -> !nv_tileas.tiled_view<128x16xf32, gmem>
  %a = nv_tileas.tiled_load %vq[%zero, %zero] {atom = #nv_tileas<atom tma_load_2d>}
    : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16, #nv_tileas<space smem>>
  %none = arith.constant dense<0.0> : tensor<128x32xf32>
  %start = arith.constant dense<0.0> : tensor<128x16xf32>
  %sum = scf.for %i = %zero to %n step %one iter_args(%acc = %start) -> (tensor<128x16xf32>) {
    %x = nv_tileas.tiled_load %vk[%zero, %i] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 0 : i32, start = 0 : i32, role = "producer", unit = "tma"}}
      : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16, #nv_tileas<space smem>>
    %s = nv_tileas.dot %a, %x, %none {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 0 : i32, order = 1 : i32, start = 8 : i32, role = "consumer", unit = "tensor_core"}}
      : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x32xf16, #nv_tileas<space smem>>, tensor<128x32xf32> -> tensor<128x32xf32>
    %p = arith.truncf %s {tileas.schedule = {stage = 0 : i32, order = 3 : i32, start = 24 : i32, role = "consumer", unit = "issue"}} : tensor<128x32xf32> to tensor<128x32xf16>
    %y = nv_tileas.tiled_load %vv[%i, %zero] {atom = #nv_tileas<atom tma_load_2d>, tileas.schedule = {stage = 0 : i32, order = 1 : i32, start = 8 : i32, role = "producer", unit = "tma"}}
      : !nv_tileas.tiled_view<32x16xf16, gmem> -> tensor<32x16xf16, #nv_tileas<space smem>>
    %next = nv_tileas.dot %p, %y, %acc {atom = #nv_tileas<atom wgmma_f16_f16_f32>, tileas.schedule = {stage = 1 : i32, order = 2 : i32, start = 48 : i32, role = "consumer", unit = "tensor_core"}}
      : tensor<128x32xf16>, tensor<32x16xf16, #nv_tileas<space smem>>, tensor<128x16xf32> -> tensor<128x16xf32>
    scf.yield %next : tensor<128x16xf32>
  } {tileas.schedule = {ii = 32 : i32, roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32, replicas = 1 : i32}, {name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 2 : i32}], buffers = [{value = 0 : i32, stages = 2 : i32}, {value = 1 : i32, stages = 3 : i32}], ahead}}
  nv_tileas.tiled_store %sum, %vo[%zero, %zero] {atom = #nv_tileas<atom stg>}
    : tensor<128x16xf32>, !nv_tileas.tiled_view<128x16xf32, gmem>
  func.return
}
