// Modules, kernels and globals.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

// A module of its own, with who made it.

cuda_tile.module @empty {
}

cuda_tile.module @made attributes {producer = "me", tag} {
}

// CHECK-LABEL: cuda_tile.module @empty {
// CHECK-NEXT:  }
// CHECK-LABEL: cuda_tile.module @made attributes {tag, producer = "me"} {
// CHECK-NEXT:  }

// Kernels.

cuda_tile.module @kernels {
  entry @plain() {
  }
  entry @hinted(%p: tile<ptr<f32>>, %n: !cuda_tile.tile<i32> {tag}) optimization_hints = <sm_100 = {num_cta_in_cga = 2, occupancy = 4}, default = {num_worker_warps_per_cta = 8}> {
    return
  }
  entry @without_hints() optimization_hints=<> {
    return
  }
}

// CHECK-LABEL: cuda_tile.module @kernels {
// CHECK-NEXT:    entry @plain() {
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:    entry @hinted(%p: tile<ptr<f32>>, %n: tile<i32> {tag}) optimization_hints=<sm_100 = {num_cta_in_cga = 2, occupancy = 4}, default = {num_worker_warps_per_cta = 8}> {
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:    entry @without_hints() {
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// Globals.

cuda_tile.module @globals {
  global @a <f32: [1.0, 2.0]> : tile<2xf32>
  global public @b alignment = 128 <i32: 7> : tile<4xi32>
  global private constant @c <i8: 1> : tile<1xi8>
  entry @k() {
    %0 = get_global @a : tile<ptr<f32>>
    %1 = get_global @b : tile<ptr<i32>>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @globals {
// CHECK-NEXT:    global @a <f32: [1.000000e+00, 2.000000e+00]> : tile<2xf32>
// CHECK-NEXT:    global @b alignment = 128 <i32: 7> : tile<4xi32>
// CHECK-NEXT:    global private constant @c <i8: 1> : tile<1xi8>
// CHECK-NEXT:    entry @k() {
// CHECK-NEXT:      %0 = get_global @a : tile<ptr<f32>>
// CHECK-NEXT:      %1 = get_global @b : tile<ptr<i32>>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }
