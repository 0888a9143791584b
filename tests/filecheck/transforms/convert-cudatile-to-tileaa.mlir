// Tile IR becomes tensors, scalars and `nv_tileaa`.

// RUN: tileas-opt %s --split-input-file -p 'convert-cudatile-to-tileaa{compute_capability=sm_90a}' | filecheck %s

// A kernel is a function; hints for the target are its specification.
cuda_tile.module @kernels {
  // CHECK-LABEL: func.func @scalars(%p: !nv_tileaa.ptr<f32, 1>, %n: i32) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>, nv_tileaa.compute_capability = 90 : i32, nv_tileaa.target_spec = "sm_90a", nv_tileaa.num_worker_warps_per_cta = 8 : i32}
  entry @scalars(%p: tile<ptr<f32>>, %n: tile<i32>) optimization_hints = <sm_90 = {num_worker_warps_per_cta = 8}> {
    // CHECK: %x = nv_tileaa.get_program_id {axis = 0 : i32}
    // Nobody reads the others.
    // CHECK-NOT: get_program_id
    %x, %y, %z = get_tile_block_id : tile<i32>
    // Tiles of rank 0 are scalars.
    // CHECK: %a = arith.addi %x, %n : i32
    %a = addi %x, %n : tile<i32>
    // CHECK: %c = arith.cmpi slt, %a, %n : i32
    %c = cmpi less_than %a, %n, signed : tile<i32> -> tile<i1>
    // CHECK: %s = arith.select %c, %a, %n : i32
    %s = select %c, %a, %n : tile<i1>, tile<i32>
    return
  }
}

// -----

// What is element by element is arith and math; what these have on scalars only is generated.
cuda_tile.module @kernels {
  // CHECK-LABEL: @elements
  entry @elements() {
    // CHECK: %a = arith.constant dense<1.500000e+00> : tensor<4xf32>
    %a = constant <f32: 1.5> : tile<4xf32>
    // CHECK: %b = arith.mulf %a, %a : tensor<4xf32>
    %b = mulf %a, %a : tile<4xf32>
    // CHECK: %c = math.exp2 %b : tensor<4xf32>
    %c = exp2 %b : tile<4xf32>
    // CHECK: %d = arith.divf %b, %c {nv_tileas.rounding = "approx"} : tensor<4xf32>
    %d = divf %b, %c rounding<approx> : tile<4xf32>
    // CHECK: arith.addf %b, %c {nv_tileas.ftz, nv_tileas.rounding = "rz"} : tensor<4xf32>
    %flushed = addf %b, %c rounding<zero> flush_to_zero : tile<4xf32>
    // Over the full range a function is what it is without a mode.
    // CHECK: math.exp %b : tensor<4xf32>
    %accurate = exp %b : tile<4xf32>
    // CHECK: %e = nv_tileaa.generate : tensor<4xi32> {
    // CHECK-NEXT: ^bb0(%{{.*}}: index):
    // CHECK-NEXT:   tensor.extract %d[%{{.*}}] : tensor<4xf32>
    // CHECK-NEXT:   arith.fptosi %{{.*}} : f32 to i32
    // CHECK-NEXT:   nv_tileaa.yield %{{.*}} : i32
    %e = ftoi %d signed : tile<4xf32> -> tile<4xi32>
    // CHECK: %f = nv_tileaa.fp_to_fp %d : tensor<4xf32> -> tensor<4xf16>
    %f = ftof %d : tile<4xf32> -> tile<4xf16>
    return
  }
}

// -----

// A quotient by a power of two is a product with its inverse, if that is not subnormal.
cuda_tile.module @kernels {
  // CHECK-LABEL: @quotients
  entry @quotients() {
    %x = constant <f32: [1.0, 2.0, 3.0, 4.0]> : tile<4xf32>
    %h = constant <f16: [1.0, 2.0, 3.0, 4.0]> : tile<4xf16>
    %128 = constant <f32: 128.0> : tile<4xf32>
    // CHECK: %[[INVERSE:.*]] = arith.constant dense<7.812500e-03> : tensor<4xf32>
    // CHECK-NEXT: %a = arith.mulf %x, %[[INVERSE]] : tensor<4xf32>
    %a = divf %x, %128 : tile<4xf32>
    // CHECK: %[[INVERSE:.*]] = arith.constant dense<7.812500e-03> : tensor<4xf32>
    // CHECK-NEXT: arith.mulf %a, %[[INVERSE]] {nv_tileas.ftz} : tensor<4xf32>
    %b = divf %a, %128 rounding<approx> flush_to_zero : tile<4xf32>
    %three = constant <f32: 3.0> : tile<4xf32>
    // CHECK: arith.divf %x, %three : tensor<4xf32>
    %c = divf %x, %three : tile<4xf32>
    %most = constant <f16: 32768.0> : tile<4xf16>
    // CHECK: arith.divf %h, %most : tensor<4xf16>
    %d = divf %h, %most : tile<4xf16>
    return
  }
}

// -----

// Facts and views: a token is there if somebody asks for it.
cuda_tile.module @kernels {
  // CHECK-LABEL: @views
  entry @views(%p: tile<ptr<f32>>, %n: tile<i32>) {
    // CHECK: %a = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f32, 1>
    %a = assume div_by<16>, %p : tile<ptr<f32>>
    // CHECK: %d = nv_tileaa.assume %n, #nv_tileaa.div_by<16> : i32
    %d = assume div_by<16>, %n : tile<i32>
    // CHECK: %m = nv_tileaa.assume %d, #nv_tileaa.bounded<0, ?> : i32
    %m = assume bounded<0, ?>, %d : tile<i32>
    // What is said already is not said again.
    // CHECK-NOT: nv_tileaa.assume
    %e = assume div_by<16>, %m : tile<i32>
    // CHECK: %v = nv_tileaa.make_memref %a, sizes[%m : i32], strides : !nv_tileaa.ptr<f32, 1> -> memref<?xf32, strided<[1]>>
    %v = make_tensor_view %a, shape = [%e], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    // CHECK: %w = nv_tileaa.block_tile %v {tileSizes = array<i64: 8>, dimGroups = array<i64: 0>} : memref<?xf32, strided<[1]>> -> !nv_tileaa.tiled_view<8xf32>
    %w = make_partition_view %v : partition_view<tile=(8), padding_value = neg_inf, tensor_view<?xf32, strides=[1]>>
    // CHECK: %[[T:.*]] = nv_tileaa.create_mem_token : !nv_tileaa.mem_token
    // CHECK: %t, %k = nv_tileaa.tiled_load %w[%{{.*}}] after %[[T]] : !nv_tileaa.mem_token {padding_value = #nv_tileas<padding neg_inf>} : !nv_tileaa.tiled_view<8xf32> -> tensor<8xf32>, !nv_tileaa.mem_token
    %t, %k = load_view_tko weak %w[%n] : partition_view<tile=(8), padding_value = neg_inf, tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
    // CHECK: %l = nv_tileaa.tiled_store %t, %w[%{{.*}}] after %k : !nv_tileaa.mem_token : tensor<8xf32>, !nv_tileaa.tiled_view<8xf32> -> !nv_tileaa.mem_token
    %l = store_view_tko weak %t, %w[%n] token = %k : tile<8xf32>, partition_view<tile=(8), padding_value = neg_inf, tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}

// -----

// What is behind a branch that leaves goes into the other arm.
cuda_tile.module @kernels {
  // CHECK-LABEL: @leaves
  entry @leaves(%p: tile<ptr<i32>>, %c: tile<i1>, %n: tile<i32>) {
    // CHECK: scf.if %c {
    // CHECK-NEXT: } else {
    // CHECK-NEXT:   nv_tileaa.store %n, %p : i32, !nv_tileaa.ptr<i32, 1>
    // CHECK-NEXT: }
    if %c { return }
    %t = store_ptr_tko weak %p, %n : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}

// -----

// A loop that breaks carries whether it goes on.
cuda_tile.module @kernels {
  // CHECK-LABEL: @breaks
  entry @breaks(%p: tile<ptr<i32>>, %n: tile<i32>) {
    // CHECK: %[[GO:.*]] = arith.constant true
    // CHECK: %r = scf.while (%{{.*}} = %[[GO]], %{{.*}} = %n) : (i1, i32) -> i32 {
    // CHECK-NEXT:   scf.condition(%{{.*}}) %{{.*}} : i32
    // CHECK-NEXT: } do {
    // CHECK-NEXT: ^bb0(%i: i32):
    %r = loop iter_values(%i = %n) : tile<i32> -> tile<i32> {
      // CHECK: %{{.*}}, %{{.*}} = scf.if %c -> (i1, i32) {
      // CHECK-NEXT:   %[[STOP:.*]] = arith.constant false
      // CHECK-NEXT:   scf.yield %[[STOP]], %i : i1, i32
      %c = cmpi equal %i, %n, signed : tile<i32> -> tile<i1>
      if %c { break %i : tile<i32> }
      // CHECK: } else {
      // CHECK-NEXT:   %j = arith.addi %i, %n : i32
      %j = addi %i, %n : tile<i32>
      continue %j : tile<i32>
    }
    // CHECK: nv_tileaa.store %r, %p : i32, !nv_tileaa.ptr<i32, 1>
    %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}

// -----

// The accumulators of a reduction come before the next elements.
cuda_tile.module @kernels {
  // CHECK-LABEL: @combines
  entry @combines() {
    %a = constant <f32: 1.0> : tile<4x8xf32>
    // CHECK: %r = nv_tileaa.reduce %a {axis = 1 : i32, identities = [0.000000e+00 : f32]} : tensor<4x8xf32> -> tensor<4xf32> {
    // CHECK-NEXT: ^bb0(%before: f32, %next: f32):
    // CHECK-NEXT:   %s = arith.subf %before, %next : f32
    // CHECK-NEXT:   nv_tileaa.yield %s : f32
    %r = reduce %a dim=1 identities=[0.0 : f32] : tile<4x8xf32> -> tile<4xf32> (%before: tile<f32>, %next: tile<f32>) {
      %s = subf %before, %next : tile<f32>
      yield %s : tile<f32>
    }
    return
  }
}

// -----

// A dimension of extent 1 has nothing to combine: it is dropped, from values and positions alike.
cuda_tile.module @kernels {
  // CHECK-LABEL: @drops
  entry @drops() {
    %a = constant <f32: 1.0> : tile<1x8xf32>
    %p = constant <i32: 2> : tile<1x8xi32>
    // CHECK: %r = nv_tileaa.view %a : tensor<1x8xf32> -> tensor<8xf32>
    // CHECK-NEXT: %{{.*}} = nv_tileaa.view %p : tensor<1x8xi32> -> tensor<8xi32>
    // CHECK-NOT: reduce
    %r, %q = reduce %a, %p dim=0 identities=[0.0 : f32, 0 : i32] : tile<1x8xf32>, tile<1x8xi32> -> tile<8xf32>, tile<8xi32> (%before: tile<f32>, %next: tile<f32>, %i: tile<i32>, %j: tile<i32>) {
      yield %next, %j : tile<f32>, tile<i32>
    }
    return
  }
}

// -----

// What only reductions see without a dimension of extent 1 is reduced with it.
cuda_tile.module @kernels {
  // CHECK-LABEL: @all
  entry @all() {
    %a = constant <f32: 1.5> : tile<1x8xf32>
    // CHECK: %a = arith.constant
    // CHECK-NEXT: %[[R:.*]] = nv_tileaa.reduce %a {axis = 1 : i32, identities = [0.000000e+00 : f32]} : tensor<1x8xf32> -> tensor<1xf32> {
    // CHECK: %s = nv_tileaa.view %[[R]] : tensor<1xf32> -> f32
    %r = reduce %a dim=0 identities=[0.0 : f32] : tile<1x8xf32> -> tile<8xf32> (%before: tile<f32>, %next: tile<f32>) {
      %t = addf %next, %before : tile<f32>
      yield %t : tile<f32>
    }
    %s = reduce %r dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32> (%before: tile<f32>, %next: tile<f32>) {
      %t = addf %next, %before : tile<f32>
      yield %t : tile<f32>
    }
    return
  }
}

// -----

// What is reduced along two dimensions is reduced along the inner one first.
cuda_tile.module @kernels {
  // CHECK-LABEL: @innermost_first
  entry @innermost_first() {
    %a = constant <f32: 1.5> : tile<4x8xf32>
    // CHECK: %a = arith.constant
    // CHECK-NEXT: %[[R:.*]] = nv_tileaa.reduce %a {axis = 1 : i32, identities = [0.000000e+00 : f32]} : tensor<4x8xf32> -> tensor<4xf32> {
    // CHECK: nv_tileaa.reduce %[[R]] {axis = 0 : i32, identities = [0.000000e+00 : f32]} : tensor<4xf32> -> f32 {
    %r = reduce %a dim=0 identities=[0.0 : f32] : tile<4x8xf32> -> tile<8xf32> (%before: tile<f32>, %next: tile<f32>) {
      %t = addf %next, %before : tile<f32>
      yield %t : tile<f32>
    }
    %s = reduce %r dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32> (%before: tile<f32>, %next: tile<f32>) {
      %t = addf %next, %before : tile<f32>
      yield %t : tile<f32>
    }
    return
  }
}

// -----

// No address depends on the stride of a dimension of extent 1: it becomes 16 bytes, or 1 innermost.
cuda_tile.module @k {
  // CHECK-LABEL: func.func @unit_extents
  entry @unit_extents(%p: tile<ptr<f16>>, %n: tile<i32>, %s: tile<i32>, %any: tile<i32>) {
    // CHECK: nv_tileaa.make_memref %p, sizes[%n : i32, %n : i32], strides[%s : i32] : !nv_tileaa.ptr<f16, 1> -> memref<1x?x?xf16, strided<[8, ?, 1]>>
    %batch = make_tensor_view %p, shape = [1, %n, %n], strides = [%any, %s, 1] : tile<i32> -> tensor_view<1x?x?xf16, strides=[?,?,1]>
    // CHECK: nv_tileaa.make_memref %p, sizes[%n : i32], strides[%s : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x1xf16, strided<[?, 1]>>
    %column = make_tensor_view %p, shape = [%n, 1], strides = [%s, %any] : tile<i32> -> tensor_view<?x1xf16, strides=[?,?]>
    return
  }
}

// -----

// Atomics of tiles are relaxed, between fences of what they release and acquire; a single element is ordered itself.
// What nothing is ordered behind acquires for nobody.
cuda_tile.module @kernels {
  // CHECK-LABEL: @ordered
  entry @ordered(%p: tile<ptr<i32>>) {
    %i = iota : tile<4xi32>
    %p1 = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
    %p4 = broadcast %p1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %q = offset %p4, %i : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %one = constant <i32: 1> : tile<i32>
    %ones = constant <i32: 1> : tile<4xi32>
    // CHECK: %a = nv_tileaa.atomic_rmw add %one, %p acq_rel gpu
    %a, %t = atomic_rmw_tko acq_rel device %p, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    // CHECK: nv_tileas.fence release gpu
    // CHECK-NEXT: %b, %{{.*}} = nv_tileaa.atomic_rmw add %ones, %q relaxed gpu
    // CHECK-NEXT: nv_tileas.fence acquire gpu
    %b, %u = atomic_rmw_tko acq_rel device %q, add, %ones : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
    // CHECK: nv_tileas.fence release gpu
    // CHECK-NEXT: %c, %{{.*}} = nv_tileaa.atomic_rmw add %ones, %q relaxed gpu
    // CHECK-NOT: nv_tileas.fence acquire
    %c, %v = atomic_rmw_tko acq_rel device %q, add, %ones token = %u : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
    return
  }
}
