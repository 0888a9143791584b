// `tileas-chunk-tiles`: compute tiles that do not fit registers chunk by chunk.

// RUN: tileas-opt %s --split-input-file -p tileas-chunk-tiles | filecheck %s

// 512 KiB of f32 in 128 threads: thirty-two chunks of 16 rows, which the program never looks across.
// Coordinates count chunks: tile 0 begins at chunk 32 * 0.

// CHECK-LABEL: @rows
// CHECK:       nv_tileas.view %{{.*}} -> !nv_tileas.tiled_view<16x256xf32, gmem>
// CHECK:       scf.for %[[C:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK:         %[[CHUNK:.*]] = arith.index_cast %[[C]] : i32 to index
// CHECK:         %[[AT:.*]] = arith.addi %{{.*}}, %[[CHUNK]] : index
// CHECK:         nv_tileas.tiled_load %{{.*}}[%[[AT]], %{{.*}}]
// CHECK:         nv_tileas.reduce %{{.*}} {axis = 1 : i32} : tensor<16x256xf32> -> tensor<16xf32>
// CHECK:         nv_tileas.tiled_store
func.func @rows(%a: memref<512x256xf32>, %b: memref<512xf32>) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %from = nv_tileas.view %a : memref<512x256xf32> -> !nv_tileas.tiled_view<512x256xf32, gmem>
  %to = nv_tileas.view %b : memref<512xf32> -> !nv_tileas.tiled_view<512xf32, gmem>
  %t, %loaded = nv_tileas.tiled_load %from[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<512x256xf32, gmem> -> tensor<512x256xf32>, !nv_tileaa.mem_token
  %e = math.exp %t : tensor<512x256xf32>
  %s = nv_tileas.reduce %e {axis = 1 : i32} : tensor<512x256xf32> -> tensor<512xf32> {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    nv_tileas.yield %z : f32
  }
  %stored = nv_tileas.tiled_store %s, %to[%zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<512xf32>, !nv_tileas.tiled_view<512xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Without tokens the place of a store says what it comes behind: all of a load, not a chunk of it.

// CHECK-LABEL: @by_place
// CHECK-NOT:   scf.for
func.func @by_place(%a: memref<512x256xf32>) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %from = nv_tileas.view %a : memref<512x256xf32> -> !nv_tileas.tiled_view<512x256xf32, gmem>
  %t = nv_tileas.tiled_load %from[%zero, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<512x256xf32, gmem> -> tensor<512x256xf32>
  nv_tileas.tiled_store %t, %from[%zero, %zero] {atom = #nv_tileas<atom stg>} : tensor<512x256xf32>, !nv_tileas.tiled_view<512x256xf32, gmem>
  func.return
}

// -----

// What fits stays as it is.

// CHECK-LABEL: @fits
// CHECK-NOT:   scf.for
func.func @fits(%a: memref<64x256xf32>) {
  %zero = arith.constant 0 : index
  %from = nv_tileas.view %a : memref<64x256xf32> -> !nv_tileas.tiled_view<64x256xf32, gmem>
  %t = nv_tileas.tiled_load %from[%zero, %zero] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x256xf32, gmem> -> tensor<64x256xf32>
  %e = math.exp %t : tensor<64x256xf32>
  nv_tileas.tiled_store %e, %from[%zero, %zero] {atom = #nv_tileas<atom stg>} : tensor<64x256xf32>, !nv_tileas.tiled_view<64x256xf32, gmem>
  func.return
}

// -----

// tcgen05 takes 128 rows: what mma.sync would multiply as a whole is cut in two parts for it.

// CHECK-LABEL: @two_parts
// CHECK:       scf.for
// CHECK:         %[[A:.*]] = nv_tileas.convert_layout %{{.*}} : tensor<128x64xf16> -> tensor<128x64xf16, #nv_tileas<space smem>>
// CHECK:         nv_tileas.dot %[[A]], %{{.*}} {atom = #nv_tileas<atom tcgen05_f16_f16_f32>}
// CHECK:         nv_tileas.tiled_store
module attributes {nv_tileas.target = "sm_100a"} {
  func.func @two_parts(%a: memref<256x64xf16>, %b: memref<64x64xf16>, %c: memref<256x64xf32>) attributes {
      nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %none = nv_tileas.create_none : !nv_tileaa.mem_token
    %zero = arith.constant 0 : index
    %u = nv_tileas.view %a : memref<256x64xf16> -> !nv_tileas.tiled_view<256x64xf16, gmem>
    %v = nv_tileas.view %b : memref<64x64xf16> -> !nv_tileas.tiled_view<64x64xf16, gmem>
    %w = nv_tileas.view %c : memref<256x64xf32> -> !nv_tileas.tiled_view<256x64xf32, gmem>
    %x, %s = nv_tileas.tiled_load %u[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<256x64xf16, gmem> -> tensor<256x64xf16>, !nv_tileaa.mem_token
    %y, %t = nv_tileas.tiled_load %v[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> tensor<64x64xf16>, !nv_tileaa.mem_token
    %sums = arith.constant dense<0.0> : tensor<256x64xf32>
    %d = nv_tileas.dot %x, %y, %sums {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<256x64xf16>, tensor<64x64xf16>, tensor<256x64xf32> -> tensor<256x64xf32>
    %stored = nv_tileas.tiled_store %d, %w[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<256x64xf32>, !nv_tileas.tiled_view<256x64xf32, gmem> -> !nv_tileaa.mem_token
    func.return
  }
}

// -----

// A loop over both parts would compute the scores again: there are two accumulators beside them.

// CHECK-LABEL: @beside_scores
// CHECK:       scf.for
// CHECK:       nv_tileas.dot %{{.*}} {atom = #nv_tileas<atom tcgen05_f16_f16_f32>} : {{.*}} -> tensor<128x64xf32>
// CHECK-NOT:   scf.for
// CHECK:       nv_tileas.dot %{{.*}} {atom = #nv_tileas<atom tcgen05_f16_f16_f32>} : {{.*}} -> tensor<128x64xf32>
// CHECK:       nv_tileas.dot %{{.*}} {atom = #nv_tileas<atom tcgen05_f16_f16_f32>} : {{.*}} -> tensor<128x64xf32>
// CHECK-COUNT-2: nv_tileas.tiled_store %{{.*}} : tensor<128x64xf32>
module attributes {nv_tileas.target = "sm_100a"} {
  func.func @beside_scores(%a: memref<256x128xf16>, %b: memref<128x64xf16>, %c: memref<256x64xf32>, %scores: memref<128x64xf32>) attributes {
      nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
    %none = nv_tileas.create_none : !nv_tileaa.mem_token
    %zero = arith.constant 0 : index
    %u = nv_tileas.view %a : memref<256x128xf16> -> !nv_tileas.tiled_view<256x128xf16, gmem>
    %p = nv_tileas.view %b : memref<128x64xf16> -> !nv_tileas.tiled_view<128x64xf16, gmem>
    %w = nv_tileas.view %c : memref<256x64xf32> -> !nv_tileas.tiled_view<256x64xf32, gmem>
    %v = nv_tileas.view %scores : memref<128x64xf32> -> !nv_tileas.tiled_view<128x64xf32, gmem>
    %q = nv_tileas.view %a : memref<256x128xf16> -> !nv_tileas.tiled_view<128x128xf16, gmem>
    %h, %r = nv_tileas.tiled_load %q[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<128x128xf16, gmem> -> tensor<128x128xf16>, !nv_tileaa.mem_token
    %y, %t = nv_tileas.tiled_load %p[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16>, !nv_tileaa.mem_token
    %nothing = arith.constant dense<0.0> : tensor<128x64xf32>
    %hs = nv_tileas.convert_layout %h : tensor<128x128xf16> -> tensor<128x128xf16, #nv_tileas<space smem>>
    %ys = nv_tileas.convert_layout %y : tensor<128x64xf16> -> tensor<128x64xf16, #nv_tileas<space smem>>
    %one = arith.constant 1 : index
    %sums = arith.constant dense<0.0> : tensor<256x64xf32>
    %d = scf.for %i = %zero to %one step %one iter_args(%acc = %sums) -> (tensor<256x64xf32>) {
      %x, %o = nv_tileas.tiled_load %u[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<256x128xf16, gmem> -> tensor<256x128xf16>, !nv_tileaa.mem_token
      %s = nv_tileas.dot %hs, %ys, %nothing {atom = #nv_tileas<atom tcgen05_f16_f16_f32>} : tensor<128x128xf16, #nv_tileas<space smem>>, tensor<128x64xf16, #nv_tileas<space smem>>, tensor<128x64xf32> -> tensor<128x64xf32>
      %f = arith.truncf %s : tensor<128x64xf32> to tensor<128x64xf16>
      %e = nv_tileas.dot %x, %f, %acc {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<256x128xf16>, tensor<128x64xf16>, tensor<256x64xf32> -> tensor<256x64xf32>
      scf.yield %e : tensor<256x64xf32>
    }
    %stored = nv_tileas.tiled_store %d, %w[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<256x64xf32>, !nv_tileas.tiled_view<256x64xf32, gmem> -> !nv_tileaa.mem_token
    func.return
  }
}

// -----

// A row that is summed, then read again: two phases, each a loop over eight chunks.  Threads add in
// f32 what is f16, and round once; the second phase loads the row again.

// CHECK-LABEL: @phases
// CHECK:       %[[NONE:.*]] = arith.constant -0.000000e+00 : f32
// CHECK:       %[[FIRST:.*]] = tensor.splat %[[NONE]] : tensor<1x8192xf32>
// CHECK:       %[[SUMS:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[FIRST]]) -> (tensor<1x8192xf32>)
// CHECK:         nv_tileas.tiled_load {{.*}} -> tensor<1x8192xf16>
// CHECK:         arith.addf %[[ACC]], %{{.*}} : tensor<1x8192xf32>
// CHECK:       %[[SUM:.*]] = nv_tileas.reduce %[[SUMS]] {axis = 1 : i32} : tensor<1x8192xf32> -> tensor<1xf32>
// CHECK:       arith.truncf %[[SUM]] : tensor<1xf32> to tensor<1xf16>
// CHECK:       scf.for
// CHECK:         nv_tileas.tiled_load {{.*}} -> tensor<1x8192xf16>
// CHECK:         arith.mulf {{.*}} : tensor<1x8192xf16>
// CHECK:         nv_tileas.tiled_store {{.*}} tensor<1x8192xf16>
func.func @phases(%a: memref<1x65536xf16>, %b: memref<1x65536xf16>) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %from = nv_tileas.view %a : memref<1x65536xf16> -> !nv_tileas.tiled_view<1x65536xf16, gmem>
  %to = nv_tileas.view %b : memref<1x65536xf16> -> !nv_tileas.tiled_view<1x65536xf16, gmem>
  %x, %loaded = nv_tileas.tiled_load %from[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x65536xf16, gmem> -> tensor<1x65536xf16>, !nv_tileaa.mem_token
  %s = nv_tileas.reduce %x {axis = 1 : i32} : tensor<1x65536xf16> -> tensor<1xf16> {
  ^bb0(%p: f16, %q: f16):
    %r = arith.addf %p, %q : f16
    nv_tileas.yield %r : f16
  }
  %w = nv_tileas.generate : tensor<1x65536xf16> {
  ^bb0(%i: index, %j: index):
    %at = arith.constant 0 : index
    %e = tensor.extract %s[%at] : tensor<1xf16>
    nv_tileas.yield %e : f16
  }
  %y = arith.mulf %x, %w : tensor<1x65536xf16>
  %stored = nv_tileas.tiled_store %y, %to[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<1x65536xf16>, !nv_tileas.tiled_view<1x65536xf16, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// The store waits for the load of the place that it writes: so does each chunk's, in the last phase.

// CHECK-LABEL: @in_place
// CHECK:       nv_tileas.reduce
// CHECK:       scf.for
// CHECK:         %{{.*}}, %[[LOADED:.*]] = nv_tileas.tiled_load {{.*}} -> tensor<1x8192xf16>
// CHECK:         nv_tileas.tiled_store {{.*}} after %[[LOADED]]
func.func @in_place(%a: memref<1x65536xf16>) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %from = nv_tileas.view %a : memref<1x65536xf16> -> !nv_tileas.tiled_view<1x65536xf16, gmem>
  %x, %loaded = nv_tileas.tiled_load %from[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x65536xf16, gmem> -> tensor<1x65536xf16>, !nv_tileaa.mem_token
  %s = nv_tileas.reduce %x {axis = 1 : i32} : tensor<1x65536xf16> -> tensor<1xf16> {
  ^bb0(%p: f16, %q: f16):
    %r = arith.addf %p, %q : f16
    nv_tileas.yield %r : f16
  }
  %w = nv_tileas.generate : tensor<1x65536xf16> {
  ^bb0(%i: index, %j: index):
    %at = arith.constant 0 : index
    %e = tensor.extract %s[%at] : tensor<1xf16>
    nv_tileas.yield %e : f16
  }
  %y = arith.mulf %x, %w : tensor<1x65536xf16>
  %stored = nv_tileas.tiled_store %y, %from[%zero, %zero] after %loaded : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<1x65536xf16>, !nv_tileas.tiled_view<1x65536xf16, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// The store waits for the whole load, and writes another place, which may be loaded again behind it.

// CHECK-LABEL: @elsewhere
// CHECK-NOT:   scf.for
func.func @elsewhere(%a: memref<1x131072xf16>) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %from = nv_tileas.view %a : memref<1x131072xf16> -> !nv_tileas.tiled_view<1x65536xf16, gmem>
  %x, %loaded = nv_tileas.tiled_load %from[%zero, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x65536xf16, gmem> -> tensor<1x65536xf16>, !nv_tileaa.mem_token
  %s = nv_tileas.reduce %x {axis = 1 : i32} : tensor<1x65536xf16> -> tensor<1xf16> {
  ^bb0(%p: f16, %q: f16):
    %r = arith.addf %p, %q : f16
    nv_tileas.yield %r : f16
  }
  %w = nv_tileas.generate : tensor<1x65536xf16> {
  ^bb0(%i: index, %j: index):
    %at = arith.constant 0 : index
    %e = tensor.extract %s[%at] : tensor<1xf16>
    nv_tileas.yield %e : f16
  }
  %y = arith.mulf %x, %w : tensor<1x65536xf16>
  %stored = nv_tileas.tiled_store %y, %from[%zero, %one] after %loaded : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<1x65536xf16>, !nv_tileas.tiled_view<1x65536xf16, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Operands that are one long tile: a stage of a pipeline takes a row of the widest swizzle of K.

// CHECK-LABEL: @long_product
// CHECK:       nv_tileas.view %{{.*}} -> !nv_tileas.tiled_view<128x64xf16, gmem>
// CHECK:       nv_tileas.view %{{.*}} -> !nv_tileas.tiled_view<64x64xf16, gmem>
// CHECK:       %[[ALL:.*]] = scf.for %{{.*}} iter_args(%[[SUMS:.*]] = %{{.*}}) -> (tensor<128x64xf32>) : i32 {
// CHECK:         %[[ONE:.*]] = nv_tileas.dot %{{.*}}, %{{.*}}, %[[SUMS]]
// CHECK:         scf.yield %[[ONE]] : tensor<128x64xf32>
// CHECK:       nv_tileas.tiled_store %[[ALL]]
func.func @long_product(%p: memref<128x256xf16>, %q: memref<256x64xf16>, %c: memref<128x64xf32>) {
  %a = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : memref<128x256xf16>
  %b = nv_tileaa.assume %q, #nv_tileaa.div_by<16> : memref<256x64xf16>
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %o = arith.constant 0 : index
  %va = nv_tileas.view %a : memref<128x256xf16> -> !nv_tileas.tiled_view<128x256xf16, gmem>
  %vb = nv_tileas.view %b : memref<256x64xf16> -> !nv_tileas.tiled_view<256x64xf16, gmem>
  %vc = nv_tileas.view %c : memref<128x64xf32> -> !nv_tileas.tiled_view<128x64xf32, gmem>
  %x, %t0 = nv_tileas.tiled_load %va[%o, %o] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<128x256xf16, gmem> -> tensor<128x256xf16>, !nv_tileaa.mem_token
  %y, %t1 = nv_tileas.tiled_load %vb[%o, %o] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<256x64xf16, gmem> -> tensor<256x64xf16>, !nv_tileaa.mem_token
  %z = arith.constant dense<0.0> : tensor<128x64xf32>
  %sx = nv_tileas.convert_layout %x : tensor<128x256xf16> -> tensor<128x256xf16, #nv_tileas<space smem>>
  %sy = nv_tileas.convert_layout %y : tensor<256x64xf16> -> tensor<256x64xf16, #nv_tileas<space smem>>
  %s = nv_tileas.dot %sx, %sy, %z {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x256xf16, #nv_tileas<space smem>>, tensor<256x64xf16, #nv_tileas<space smem>>, tensor<128x64xf32> -> tensor<128x64xf32>
  %t2 = nv_tileas.tiled_store %s, %vc[%o, %o] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x64xf32>, !nv_tileas.tiled_view<128x64xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// The whole tile is read again, or the loads are by threads: the product stays one.

// CHECK-LABEL: @read_again
// CHECK-NOT:   scf.for
func.func @read_again(%p: memref<64x128xf16>, %q: memref<128x64xf16>, %c: memref<64x128xf16>) {
  %a = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : memref<64x128xf16>
  %b = nv_tileaa.assume %q, #nv_tileaa.div_by<16> : memref<128x64xf16>
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %o = arith.constant 0 : index
  %va = nv_tileas.view %a : memref<64x128xf16> -> !nv_tileas.tiled_view<64x128xf16, gmem>
  %vb = nv_tileas.view %b : memref<128x64xf16> -> !nv_tileas.tiled_view<128x64xf16, gmem>
  %vc = nv_tileas.view %c : memref<64x128xf16> -> !nv_tileas.tiled_view<64x128xf16, gmem>
  %x, %t0 = nv_tileas.tiled_load %va[%o, %o] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x128xf16, gmem> -> tensor<64x128xf16>, !nv_tileaa.mem_token
  %y, %t1 = nv_tileas.tiled_load %vb[%o, %o] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<128x64xf16, gmem> -> tensor<128x64xf16>, !nv_tileaa.mem_token
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %sx = nv_tileas.convert_layout %x : tensor<64x128xf16> -> tensor<64x128xf16, #nv_tileas<space smem>>
  %sy = nv_tileas.convert_layout %y : tensor<128x64xf16> -> tensor<128x64xf16, #nv_tileas<space smem>>
  %s = nv_tileas.dot %sx, %sy, %z {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x128xf16, #nv_tileas<space smem>>, tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
  %t2 = nv_tileas.tiled_store %x, %vc[%o, %o] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<64x128xf16>, !nv_tileas.tiled_view<64x128xf16, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// A tile that is used on both sides of a product is loaded again behind it, where what is live takes
// more than 144 registers of a thread: 128 for 128x256 sums, 32 for 64x128 elements.

// CHECK-LABEL: @loaded_again
// CHECK:         %[[K:.*]], %{{.*}} = nv_tileas.tiled_load
// CHECK:         math.exp %[[K]]
// CHECK:         nv_tileas.dot
// CHECK-NEXT:    %[[AGAIN:.*]], %{{.*}} = nv_tileas.tiled_load
// CHECK-NEXT:    arith.mulf %[[AGAIN]], %[[AGAIN]]
func.func @loaded_again(%p: memref<64x128xf32>, %a: tensor<128x64xf16, #nv_tileas<space smem>>, %b: tensor<64x256xf16, #nv_tileas<space smem>>, %c: memref<128x256xf32>) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %o = arith.constant 0 : index
  %vp = nv_tileas.view %p : memref<64x128xf32> -> !nv_tileas.tiled_view<64x128xf32, gmem>
  %vc = nv_tileas.view %c : memref<128x256xf32> -> !nv_tileas.tiled_view<128x256xf32, gmem>
  %k, %t0 = nv_tileas.tiled_load %vp[%o, %o] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x128xf32, gmem> -> tensor<64x128xf32>, !nv_tileaa.mem_token
  %e = math.exp %k : tensor<64x128xf32>
  "test.op"(%e) : (tensor<64x128xf32>) -> ()
  %z = arith.constant dense<0.0> : tensor<128x256xf32>
  %s = nv_tileas.dot %a, %b, %z {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x256xf16, #nv_tileas<space smem>>, tensor<128x256xf32> -> tensor<128x256xf32>
  %m = arith.mulf %k, %k : tensor<64x128xf32>
  "test.op"(%m) : (tensor<64x128xf32>) -> ()
  %t1 = nv_tileas.tiled_store %s, %vc[%o, %o] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x256xf32>, !nv_tileas.tiled_view<128x256xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// What a product reads of it in shared memory is stored once; threads load it again for themselves
// where sums come from tensor memory and take registers beside it.

// CHECK-LABEL: @stored_and_loaded_again
// CHECK:         %[[K:.*]], %{{.*}} = nv_tileas.tiled_load
// CHECK:         %[[A:.*]] = nv_tileas.convert_layout %[[K]]
// CHECK:         nv_tileas.dot %[[A]]
// CHECK:         %[[AGAIN:.*]], %{{.*}} = nv_tileas.tiled_load
// CHECK-NEXT:    arith.extf %[[AGAIN]]
module attributes {nv_tileas.target = "sm_100a"} {
func.func @stored_and_loaded_again(%p: memref<128x256xf16>, %b: tensor<256x256xf16, #nv_tileas<space smem>>, %c: memref<128x256xf32>) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %o = arith.constant 0 : index
  %vp = nv_tileas.view %p : memref<128x256xf16> -> !nv_tileas.tiled_view<128x256xf16, gmem>
  %vc = nv_tileas.view %c : memref<128x256xf32> -> !nv_tileas.tiled_view<128x256xf32, gmem>
  %k, %t0 = nv_tileas.tiled_load %vp[%o, %o] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<128x256xf16, gmem> -> tensor<128x256xf16>, !nv_tileaa.mem_token
  %a = nv_tileas.convert_layout %k : tensor<128x256xf16> -> tensor<128x256xf16, #nv_tileas<space smem>>
  %z = arith.constant dense<0.0> : tensor<128x256xf32>
  %s = nv_tileas.dot %a, %b, %z {atom = #nv_tileas<atom tcgen05_f16_f16_f32>} : tensor<128x256xf16, #nv_tileas<space smem>>, tensor<256x256xf16, #nv_tileas<space smem>>, tensor<128x256xf32> -> tensor<128x256xf32>
  %e = arith.extf %k : tensor<128x256xf16> to tensor<128x256xf32>
  %m = arith.addf %e, %s : tensor<128x256xf32>
  %t1 = nv_tileas.tiled_store %m, %vc[%o, %o] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x256xf32>, !nv_tileas.tiled_view<128x256xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}
}

// -----

// Not where a store waits for the load: it may write what would be read.

// CHECK-LABEL: @loaded_before_a_store
// CHECK-COUNT-1: nv_tileas.tiled_load
// CHECK-NOT:     nv_tileas.tiled_load
func.func @loaded_before_a_store(%p: memref<64x128xf32>, %a: tensor<128x64xf16, #nv_tileas<space smem>>, %b: tensor<64x256xf16, #nv_tileas<space smem>>, %c: memref<128x256xf32>) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %o = arith.constant 0 : index
  %vp = nv_tileas.view %p : memref<64x128xf32> -> !nv_tileas.tiled_view<64x128xf32, gmem>
  %vc = nv_tileas.view %c : memref<128x256xf32> -> !nv_tileas.tiled_view<128x256xf32, gmem>
  %k, %t0 = nv_tileas.tiled_load %vp[%o, %o] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x128xf32, gmem> -> tensor<64x128xf32>, !nv_tileaa.mem_token
  %e = math.exp %k : tensor<64x128xf32>
  %t1 = nv_tileas.tiled_store %e, %vp[%o, %o] after %t0 : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<64x128xf32>, !nv_tileas.tiled_view<64x128xf32, gmem> -> !nv_tileaa.mem_token
  %z = arith.constant dense<0.0> : tensor<128x256xf32>
  %s = nv_tileas.dot %a, %b, %z {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<128x64xf16, #nv_tileas<space smem>>, tensor<64x256xf16, #nv_tileas<space smem>>, tensor<128x256xf32> -> tensor<128x256xf32>
  %m = arith.mulf %k, %k : tensor<64x128xf32>
  "test.op"(%m) : (tensor<64x128xf32>) -> ()
  %t2 = nv_tileas.tiled_store %s, %vc[%o, %o] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<128x256xf32>, !nv_tileas.tiled_view<128x256xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// One warpgroup does not hold 64x256 sums, their sum and 64x64 scores: a second one shares columns.
// It reads all of A, which goes through shared memory then; 64 rows have each one warpgroup alone.

// CHECK-LABEL: @columns_are_shared
// CHECK-SAME:    num_warps = 8
// CHECK:         %[[A:.*]] = nv_tileas.convert_layout %{{.*}} : tensor<64x64xf16> -> tensor<64x64xf16, #nv_tileas<space smem>>
// CHECK-NEXT:    nv_tileas.dot %[[A]], %{{.*}}
func.func @columns_are_shared(%a: tensor<64x64xf16, #nv_tileas<space smem>>, %b: tensor<64x64xf16, #nv_tileas<space smem>>, %v: tensor<64x256xf16, #nv_tileas<space smem>>, %c: memref<64x256xf32>) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %o = arith.constant 0 : index
  %vc = nv_tileas.view %c : memref<64x256xf32> -> !nv_tileas.tiled_view<64x256xf32, gmem>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %y = arith.constant dense<1.0> : tensor<64x256xf32>
  %s = nv_tileas.dot %a, %b, %z {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf16, #nv_tileas<space smem>>, tensor<64x64xf32> -> tensor<64x64xf32>
  %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  %d = nv_tileas.dot %p, %v, %y {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16>, tensor<64x256xf16, #nv_tileas<space smem>>, tensor<64x256xf32> -> tensor<64x256xf32>
  "test.op"(%s) : (tensor<64x64xf32>) -> ()
  %t = nv_tileas.tiled_store %d, %vc[%o, %o] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<64x256xf32>, !nv_tileas.tiled_view<64x256xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// A row of 64 KiB that is computed in f32 takes 64 registers of each of 512 threads: one block fills
// a multiprocessor.  In shared memory three blocks have one each, and read its chunks there, which are
// written out.

// CHECK-LABEL: @kept
// CHECK-SAME:  nv_tileas.rows = "rows of 65536 bytes: {{[0-9]+}} cycles each with 1 in registers, {{[0-9]+}} with as many loaded ahead, {{[0-9]+}} with 3 in shared memory"
// CHECK:       %[[ROW:.*]], %{{.*}} = nv_tileas.async.tiled_load %{{.*}} {nv_tileas.kept_in_shared_memory, {{.*}} -> !nv_tileas.token<tensor<1x32768xf16>>
// CHECK:       %[[X:.*]] = nv_tileas.async.wait %[[ROW]]
// CHECK:       nv_tileas.extract_slice %[[X]][0, 0][1, 4096]
// CHECK:       nv_tileas.extract_slice %[[X]][0, 4096][1, 4096]
// CHECK:       nv_tileas.extract_slice %[[X]][0, 28672][1, 4096]
// CHECK:       nv_tileas.reduce %{{.*}} : tensor<1x4096xf32> -> tensor<1xf32>
// CHECK-NOT:   tiled_load
// CHECK:       nv_tileas.extract_slice %[[X]][0, 0][1, 4096]
// CHECK:       nv_tileas.tiled_store {{.*}} tensor<1x4096xf16>
// CHECK:       nv_tileas.extract_slice %[[X]][0, 28672][1, 4096]
// CHECK:       nv_tileas.tiled_store {{.*}} tensor<1x4096xf16>
func.func @kept(%array: memref<64x32768xf16>, %b: memref<64x32768xf16>, %i: index) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 16>} {
  %a = nv_tileaa.assume %array, #nv_tileaa.div_by<16> : memref<64x32768xf16>
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %from = nv_tileas.view %a : memref<64x32768xf16> -> !nv_tileas.tiled_view<1x32768xf16, gmem>
  %to = nv_tileas.view %b : memref<64x32768xf16> -> !nv_tileas.tiled_view<1x32768xf16, gmem>
  %x, %loaded = nv_tileas.tiled_load %from[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x32768xf16, gmem> -> tensor<1x32768xf16>, !nv_tileaa.mem_token
  %f = arith.extf %x : tensor<1x32768xf16> to tensor<1x32768xf32>
  %s = nv_tileas.reduce %f {axis = 1 : i32} : tensor<1x32768xf32> -> tensor<1xf32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nv_tileas.yield %r : f32
  }
  %w = nv_tileas.generate : tensor<1x32768xf32> {
  ^bb0(%j: index, %k: index):
    %r = tensor.extract %s[%j] : tensor<1xf32>
    nv_tileas.yield %r : f32
  }
  %y = arith.mulf %f, %w : tensor<1x32768xf32>
  %z = arith.truncf %y : tensor<1x32768xf32> to tensor<1x32768xf16>
  %stored = nv_tileas.tiled_store %z, %to[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<1x32768xf16>, !nv_tileas.tiled_view<1x32768xf16, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Rows of up to 20,464 elements reach into five of eight chunks.  What is behind them is padding, of
// which only reductions know: three chunks of it are added up, and none is stored.

// CHECK-LABEL: @reached
// CHECK:       nv_tileas.async.tiled_load %{{.*}} -> !nv_tileas.token<tensor<1x32768xf16>>
// CHECK:       nv_tileas.extract_slice %[[X:.*]][0, 16384][1, 4096]
// CHECK-NOT:   nv_tileas.extract_slice %[[X]][0, 20480]
// CHECK:       tensor.splat %{{.*}} : tensor<1x4096xf16>
// CHECK:       nv_tileas.reduce %{{.*}} : tensor<1x4096xf32> -> tensor<1xf32>
// CHECK:       nv_tileas.extract_slice %[[X]][0, 16384][1, 4096]
// CHECK:       nv_tileas.tiled_store
// CHECK-NOT:   nv_tileas.tiled_store
func.func @reached(%p: !nv_tileaa.ptr<f16, 1>, %q: !nv_tileaa.ptr<f16, 1>, %length: i32, %step: i32, %i: index) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 16>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %pa = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %qb = nv_tileaa.assume %q, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %stride = nv_tileaa.assume %step, #nv_tileaa.div_by<8> : i32
  %n = nv_tileaa.assume %length, #nv_tileaa.bounded<16384, 20464> : i32
  %a = nv_tileaa.make_memref %pa, sizes[%n : i32], strides[%stride : i32] : !nv_tileaa.ptr<f16, 1> -> memref<64x?xf16, strided<[?, 1]>>
  %b = nv_tileaa.make_memref %qb, sizes[%n : i32], strides[%stride : i32] : !nv_tileaa.ptr<f16, 1> -> memref<64x?xf16, strided<[?, 1]>>
  %from = nv_tileas.view %a : memref<64x?xf16, strided<[?, 1]>> -> !nv_tileas.tiled_view<1x32768xf16, gmem>
  %to = nv_tileas.view %b : memref<64x?xf16, strided<[?, 1]>> -> !nv_tileas.tiled_view<1x32768xf16, gmem>
  %x, %loaded = nv_tileas.tiled_load %from[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>, padding_value = 1.000000e+00 : f16} : !nv_tileas.tiled_view<1x32768xf16, gmem> -> tensor<1x32768xf16>, !nv_tileaa.mem_token
  %f = arith.extf %x : tensor<1x32768xf16> to tensor<1x32768xf32>
  %s = nv_tileas.reduce %f {axis = 1 : i32} : tensor<1x32768xf32> -> tensor<1xf32> {
  ^bb0(%l: f32, %r: f32):
    %y = arith.addf %l, %r : f32
    nv_tileas.yield %y : f32
  }
  %w = nv_tileas.generate : tensor<1x32768xf32> {
  ^bb0(%j: index, %k: index):
    %first = arith.constant 0 : index
    %y = tensor.extract %s[%first] : tensor<1xf32>
    nv_tileas.yield %y : f32
  }
  %m = arith.mulf %f, %w : tensor<1x32768xf32>
  %h = arith.truncf %m : tensor<1x32768xf32> to tensor<1x32768xf16>
  %stored = nv_tileas.tiled_store %h, %to[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<1x32768xf16>, !nv_tileas.tiled_view<1x32768xf16, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// Powers of the elements are computed twice of each chunk, which takes no longer than rows that are
// loaded a round ahead: blocks load while others compute.

// CHECK-LABEL: @powers
// CHECK-SAME:  nv_tileas.rows = "rows of 65536 bytes: {{[0-9]+}} cycles each with 1 in registers, {{[0-9]+}} with as many loaded ahead, {{[0-9]+}} with 3 in shared memory"
// CHECK:       nv_tileas.async.tiled_load
// CHECK-NOT:   scf.for
func.func @powers(%array: memref<64x32768xf16>, %b: memref<64x32768xf16>, %i: index) attributes {
    nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 16>} {
  %a = nv_tileaa.assume %array, #nv_tileaa.div_by<16> : memref<64x32768xf16>
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0 : index
  %from = nv_tileas.view %a : memref<64x32768xf16> -> !nv_tileas.tiled_view<1x32768xf16, gmem>
  %to = nv_tileas.view %b : memref<64x32768xf16> -> !nv_tileas.tiled_view<1x32768xf16, gmem>
  %x, %loaded = nv_tileas.tiled_load %from[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x32768xf16, gmem> -> tensor<1x32768xf16>, !nv_tileaa.mem_token
  %f = arith.extf %x : tensor<1x32768xf16> to tensor<1x32768xf32>
  %e = math.exp %f : tensor<1x32768xf32>
  %s = nv_tileas.reduce %e {axis = 1 : i32} : tensor<1x32768xf32> -> tensor<1xf32> {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    nv_tileas.yield %r : f32
  }
  %w = nv_tileas.generate : tensor<1x32768xf32> {
  ^bb0(%j: index, %k: index):
    %r = tensor.extract %s[%j] : tensor<1xf32>
    nv_tileas.yield %r : f32
  }
  %y = arith.mulf %e, %w : tensor<1x32768xf32>
  %z = arith.truncf %y : tensor<1x32768xf32> to tensor<1x32768xf16>
  %stored = nv_tileas.tiled_store %z, %to[%i, %zero] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<1x32768xf16>, !nv_tileas.tiled_view<1x32768xf16, gmem> -> !nv_tileaa.mem_token
  func.return
}

// -----

// A loop reads a row that does not fit registers in each round: it computes the row again, in a loop over
// its chunks. The maximum in front of it has a loop of its own.

// CHECK-LABEL: @searched
// CHECK:       scf.for
// CHECK:         nv_tileas.tiled_load
// CHECK:         arith.maxnumf
// CHECK:       %[[M:.*]] = nv_tileas.reduce
// CHECK:       scf.for %{{.*}} iter_args(%[[LOW:.*]] = %zero)
// CHECK:         scf.for
// CHECK:           %[[X:.*]], %{{.*}} = nv_tileas.tiled_load
// CHECK:           %[[E:.*]] = arith.subf %[[X]]
// CHECK:           arith.maxnumf %[[E]]
// CHECK:           arith.addf
// CHECK:         nv_tileas.reduce
// CHECK:       nv_tileas.tiled_store
func.func @searched(%array: memref<?x?xf32, strided<[?, 1]>>, %w: !nv_tileas.tiled_view<1xf32, gmem>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 16>} {
  %none = nv_tileas.create_none : !nv_tileaa.mem_token
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : index
  %one = arith.constant 1 : index
  %last = arith.constant 8 : index
  %v = nv_tileas.view %array : memref<?x?xf32, strided<[?, 1]>> -> !nv_tileas.tiled_view<1x131072xf32, gmem>
  %x, %read = nv_tileas.tiled_load %v[%first, %first] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<1x131072xf32, gmem> -> tensor<1x131072xf32>, !nv_tileaa.mem_token
  %m = nv_tileas.reduce %x {axis = 1 : i32} : tensor<1x131072xf32> -> tensor<1xf32> {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    nv_tileas.yield %c : f32
  }
  %n = tensor.extract %m[%first] : tensor<1xf32>
  %wide = tensor.splat %n : tensor<1x131072xf32>
  %e = arith.subf %x, %wide : tensor<1x131072xf32>
  %found = scf.for %k = %first to %last step %one iter_args(%low = %zero) -> (f32) {
    %bound = tensor.splat %low : tensor<1x131072xf32>
    %above = arith.maxnumf %e, %bound : tensor<1x131072xf32>
    %s = nv_tileas.reduce %above {axis = 1 : i32} : tensor<1x131072xf32> -> tensor<1xf32> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      nv_tileas.yield %c : f32
    }
    %t = tensor.extract %s[%first] : tensor<1xf32>
    scf.yield %t : f32
  }
  %result = tensor.splat %found : tensor<1xf32>
  %stored = nv_tileas.tiled_store %result, %w[%first] after %none : !nv_tileaa.mem_token {atom = #nv_tileas<atom stg>} : tensor<1xf32>, !nv_tileas.tiled_view<1xf32, gmem> -> !nv_tileaa.mem_token
  func.return
}
