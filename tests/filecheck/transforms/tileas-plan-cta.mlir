// `tileas-plan-cta`: several CTAs compute the tiles of one tile block together.

// RUN: tileas-opt %s --split-input-file -p tileas-plan-cta | filecheck %s
// RUN: tileas-opt %s --split-input-file -p "tileas-plan-cta{ctas=2}" | filecheck %s --check-prefix=TWO
// RUN: tileas-opt %s --split-input-file -p "tileas-plan-cta{ctas=1}" | filecheck %s --check-prefix=ONE

// Two CTAs, each of which computes 64 of 128 rows. Blocks along x are counted by pairs of CTAs.

// CHECK-LABEL: @rows
// CHECK-SAME:  tile_block_ctas = 2
// CHECK:       %[[CTA:.*]] = "gpu.block_id"()
// CHECK:       %[[PART:.*]] = arith.remui %[[CTA]], %{{.*}} : index
// CHECK:       %[[BLOCK:.*]] = arith.divui %{{.*}}, %{{.*}} : index
// CHECK:       nv_tileas.view %{{.*}} -> !nv_tileas.tiled_view<64x256xf32, gmem>
// CHECK:       %[[FIRST:.*]] = arith.muli %[[BLOCK]], %{{.*}} : index
// CHECK:       %[[AT:.*]] = arith.addi %[[FIRST]], %[[PART]] : index
// CHECK:       nv_tileas.tiled_load %{{.*}}[%[[AT]], %{{.*}}]
// CHECK:       nv_tileas.reduce %{{.*}} {axis = 1 : i32} : tensor<64x256xf32> -> tensor<64xf32>
func.func @rows(%a: memref<512x256xf32>, %b: memref<512xf32>) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>, nv_tileaa.num_cta_in_cga = 2 : i32} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %from = nv_tileas.view %a : memref<512x256xf32> -> !nv_tileas.tiled_view<128x256xf32, gmem>
  %to = nv_tileas.view %b : memref<512xf32> -> !nv_tileas.tiled_view<128xf32, gmem>
  %t, %loaded = nv_tileas.tiled_load %from[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<128x256xf32, gmem> -> tensor<128x256xf32>, !nv_tileaa.mem_token
  %s = nv_tileas.reduce %t {axis = 1 : i32} : tensor<128x256xf32> -> tensor<128xf32> {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    nv_tileas.yield %z : f32
  }
  %stored = nv_tileas.tiled_store %s, %to[%i] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128xf32>, !nv_tileas.tiled_view<128xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Columns: 64x64 of A and 64x128 of B are fewer bytes than half of A and all of B.

// CHECK-LABEL: @columns
// CHECK:       nv_tileas.tiled_load {{.*}} -> tensor<128x64xf16>
// CHECK:       nv_tileas.tiled_load {{.*}} -> tensor<64x128xf16>
// CHECK:       nv_tileas.dot {{.*}} -> tensor<128x128xf32>
func.func @columns(%a: memref<128x64xf16>, %b: memref<64x256xf16>, %c: memref<128x256xf32>) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>, nv_tileaa.num_cta_in_cga = 2 : i32} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %va = nv_tileas.view %a : memref<128x64xf16> -> !nv_tileas.tiled_view<128x64xf16, gmem>
  %vb = nv_tileas.view %b : memref<64x256xf16> -> !nv_tileas.tiled_view<64x256xf16, gmem>
  %vc = nv_tileas.view %c : memref<128x256xf32> -> !nv_tileas.tiled_view<128x256xf32, gmem>
  %x, %t0 = nv_tileas.tiled_load %va[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16>, !nv_tileaa.mem_token
  %y, %t1 = nv_tileas.tiled_load %vb[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x256xf16, gmem> -> tensor<64x256xf16>, !nv_tileaa.mem_token
  %sum = arith.constant dense<0.0> : tensor<128x256xf32>
  %p = nv_tileas.dot %x, %y, %sum {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32> -> tensor<128x256xf32>
  %t2 = nv_tileas.tiled_store %p, %vc[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x256xf32>, !nv_tileas.tiled_view<128x256xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// The tensor core of sm_100a multiplies 256 rows of two CTAs together: each needs half of B. The
// product was of mma.sync, for 256 rows are too many for one CTA.

// CHECK-LABEL: @pair
// CHECK:       nv_tileas.tiled_load {{.*}} -> tensor<128x64xf16>
// CHECK:       nv_tileas.tiled_load {{.*}} -> tensor<64x256xf16>
// CHECK:       nv_tileas.dot {{.*}} {atom = #nv_tileas<atom tcgen05_f16_f16_f32<cta_group = 2>>} : {{.*}} -> tensor<128x256xf32>
builtin.module attributes {nv_tileas.target = "sm_100a"} {
  func.func @pair(%a: memref<256x64xf16>, %b: memref<64x256xf16>, %c: memref<256x256xf32>) attributes {
      nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>, nv_tileaa.num_cta_in_cga = 2 : i32} {
    %none = nv_tileas.create_none : !nv_tileaa.mem_token
    %zero = arith.constant 0 : index
    %va = nv_tileas.view %a : memref<256x64xf16> -> !nv_tileas.tiled_view<256x64xf16, gmem>
    %vb = nv_tileas.view %b : memref<64x256xf16> -> !nv_tileas.tiled_view<64x256xf16, gmem>
    %vc = nv_tileas.view %c : memref<256x256xf32> -> !nv_tileas.tiled_view<256x256xf32, gmem>
    %x, %t0 = nv_tileas.tiled_load %va[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<256x64xf16, gmem> -> tensor<256x64xf16>, !nv_tileaa.mem_token
    %y, %t1 = nv_tileas.tiled_load %vb[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x256xf16, gmem> -> tensor<64x256xf16>, !nv_tileaa.mem_token
    %sum = arith.constant dense<0.0> : tensor<256x256xf32>
    %p = nv_tileas.dot %x, %y, %sum {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<256x64xf16>, tensor<64x256xf16>, tensor<256x256xf32> -> tensor<256x256xf32>
    %t2 = nv_tileas.tiled_store %p, %vc[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<256x256xf32>, !nv_tileas.tiled_view<256x256xf32, gmem> -> !nv_tileaa.mem_token
    func.return
  }
}

// -----

// 64 rows are half as many as an instruction of two CTAs has at least: each CTA has columns, and says
// why it multiplies alone.

// CHECK-LABEL: @alone
// CHECK:       nv_tileas.dot {{.*}} {nv_tileas.not_paired = "its CTAs divide its columns, or neither rows nor columns", atom = #nv_tileas<atom tcgen05_f16_f16_f32>} : {{.*}} -> tensor<64x128xf32>
builtin.module attributes {nv_tileas.target = "sm_100a"} {
  func.func @alone(%a: memref<64x64xf16>, %b: memref<64x256xf16>, %c: memref<64x256xf32>) attributes {
      nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>, nv_tileaa.num_cta_in_cga = 2 : i32} {
    %none = nv_tileas.create_none : !nv_tileaa.mem_token
    %zero = arith.constant 0 : index
    %va = nv_tileas.view %a : memref<64x64xf16> -> !nv_tileas.tiled_view<64x64xf16, gmem>
    %vb = nv_tileas.view %b : memref<64x256xf16> -> !nv_tileas.tiled_view<64x256xf16, gmem>
    %vc = nv_tileas.view %c : memref<64x256xf32> -> !nv_tileas.tiled_view<64x256xf32, gmem>
    %x, %t0 = nv_tileas.tiled_load %va[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>, !nv_tileaa.mem_token
    %y, %t1 = nv_tileas.tiled_load %vb[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x256xf16, gmem> -> tensor<64x256xf16>, !nv_tileaa.mem_token
    %sum = arith.constant dense<0.0> : tensor<64x256xf32>
    %p = nv_tileas.dot %x, %y, %sum {atom = #nv_tileas<atom tcgen05_f16_f16_f32>} : tensor<64x64xf16>, tensor<64x256xf16>, tensor<64x256xf32> -> tensor<64x256xf32>
    %t2 = nv_tileas.tiled_store %p, %vc[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<64x256xf32>, !nv_tileas.tiled_view<64x256xf32, gmem> -> !nv_tileaa.mem_token
    func.return
  }
}

// -----

// A tile that `scf.while` carries, and passes on to what follows, is divided with the others.

// CHECK-LABEL: @until
// CHECK:       scf.while {{.*}} -> (index, tensor<64x32xf32>)
// CHECK:       nv_tileas.tiled_store {{.*}} : tensor<64x32xf32>
func.func @until(%a: memref<128x32xf32>) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>, nv_tileaa.num_cta_in_cga = 2 : i32} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %seven = arith.constant 7 : index
  %start = arith.constant dense<1.0> : tensor<128x32xf32>
  %to = nv_tileas.view %a : memref<128x32xf32> -> !nv_tileas.tiled_view<128x32xf32, gmem>
  %n, %sum = scf.while (%i = %zero, %t = %start) : (index, tensor<128x32xf32>) -> (index, tensor<128x32xf32>) {
    %goes_on = arith.cmpi slt, %i, %seven : index
    scf.condition(%goes_on) %i, %t : index, tensor<128x32xf32>
  } do {
  ^bb0(%i: index, %t: tensor<128x32xf32>):
    %next = arith.addi %i, %one : index
    %doubled = arith.addf %t, %t : tensor<128x32xf32>
    scf.yield %next, %doubled : index, tensor<128x32xf32>
  }
  %stored = nv_tileas.tiled_store %sum, %to[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x32xf32>, !nv_tileas.tiled_view<128x32xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// One CTA would store rows while the other still loads all of them.

// CHECK-LABEL: @in_place
// CHECK-SAME:  nv_tileas.not_divided = "'nv_tileas.tiled_store' comes after accesses that another CTA would do"
func.func @in_place(%a: memref<128x128xf16>) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>, nv_tileaa.num_cta_in_cga = 2 : i32} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %va = nv_tileas.view %a : memref<128x128xf16> -> !nv_tileas.tiled_view<128x128xf16, gmem>
  %x, %t0 = nv_tileas.tiled_load %va[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<128x128xf16, gmem> -> tensor<128x128xf16>, !nv_tileaa.mem_token
  %y, %t1 = nv_tileas.tiled_load %va[%zero, %zero] after %t0 : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<128x128xf16, gmem> -> tensor<128x128xf16>, !nv_tileaa.mem_token
  %sum = arith.constant dense<0.0> : tensor<128x128xf32>
  %p = nv_tileas.dot %x, %y, %sum {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x128xf16>, tensor<128x128xf16>, tensor<128x128xf32> -> tensor<128x128xf32>
  %h = arith.truncf %p : tensor<128x128xf32> to tensor<128x128xf16>
  %t2 = nv_tileas.tiled_store %h, %va[%zero, %zero] after %t1 : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x128xf16>, !nv_tileas.tiled_view<128x128xf16, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// The program looks across the only dimension.

// CHECK-LABEL: @whole
// CHECK-SAME:  nv_tileas.not_divided = "every dimension of its tiles is one that the program looks across"
func.func @whole(%a: memref<256xf32>, %b: memref<256xf32>) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>, nv_tileaa.num_cta_in_cga = 2 : i32} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %from = nv_tileas.view %a : memref<256xf32> -> !nv_tileas.tiled_view<256xf32, gmem>
  %to = nv_tileas.view %b : memref<256xf32> -> !nv_tileas.tiled_view<256xf32, gmem>
  %t, %t0 = nv_tileas.tiled_load %from[%zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<256xf32, gmem> -> tensor<256xf32>, !nv_tileaa.mem_token
  %s = nv_tileas.scan %t {axis = 0 : i32} : tensor<256xf32> -> tensor<256xf32> {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    nv_tileas.yield %z : f32
  }
  %t1 = nv_tileas.tiled_store %s, %to[%zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<256xf32>, !nv_tileas.tiled_view<256xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// A kernel that does not say how many CTAs it wants: a launch of few tile blocks computes what its
// loops load, and decides. The product keeps 32 columns at least.

// CHECK-LABEL: @asked
// CHECK-SAME:  tileas.few_tile_blocks = {counts = array<i64: 4, 2, 1>, steps = ["0", "scalar 3", "1"], loops = [{amount = 32768 : i64, bounds = [array<i64: 0, 1, 2>]}], sums = [{together = 1 : i64, ctas = 4 : i64
// CHECK:       nv_tileas.dot {{.*}} -> tensor<128x128xf32>
// TWO-LABEL:   @asked
// TWO-SAME:    tile_block_ctas = 2
// TWO-NOT:     few_tile_blocks
// TWO-SAME:    tileas.runs_at_once
// ONE-LABEL:   @asked
// ONE-NOT:     tile_block_ctas
// ONE-SAME:    tileas.runs_at_once
// ONE:         nv_tileas.dot {{.*}} -> tensor<128x128xf32>
// TWO:         nv_tileas.dot {{.*}} -> tensor<64x128xf32>
func.func @asked(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>, %n: index) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %va = nv_tileas.view %a : memref<?x?xf16> -> !nv_tileas.tiled_view<128x64xf16, gmem>
  %vb = nv_tileas.view %b : memref<?x?xf16> -> !nv_tileas.tiled_view<64x128xf16, gmem>
  %vc = nv_tileas.view %c : memref<?x?xf32> -> !nv_tileas.tiled_view<128x128xf32, gmem>
  %start = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = scf.for %k = %zero to %n step %one iter_args(%s = %start) -> (tensor<128x128xf32>) {
    %x, %t0 = nv_tileas.tiled_load %va[%i, %k] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16>, !nv_tileaa.mem_token
    %y, %t1 = nv_tileas.tiled_load %vb[%k, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x128xf16, gmem> -> tensor<64x128xf16>, !nv_tileaa.mem_token
    %p = nv_tileas.dot %x, %y, %s {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16>, tensor<64x128xf16>, tensor<128x128xf32> -> tensor<128x128xf32>
    scf.yield %p : tensor<128x128xf32>
  }
  %stored = nv_tileas.tiled_store %sum, %vc[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x128xf32>, !nv_tileas.tiled_view<128x128xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}
