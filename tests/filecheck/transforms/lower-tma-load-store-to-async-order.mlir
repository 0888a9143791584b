// `lower-tma-load-store-to-async`: what threads have done when an operation begins needs no wait.

// RUN: tileas-opt %s -p lower-tma-load-store-to-async | filecheck %s

#load = #nv_tileas<atom tma_load_2d>
!mem = !nv_tileaa.mem_token
!tile = tensor<64x64xf16>
!view = !nv_tileas.tiled_view<64x64xf16, gmem>

// Grids before this one.

func.func @after_grids(%x: memref<256x256xf16>, %i: index) -> !tile attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %v = nv_tileas.view %x : memref<256x256xf16> -> !view
  %none = nv_tileas.create_none : !mem
  %grids = nv_tileas.grid_dependency "wait" after %none : !mem -> !mem
  %t, %done = nv_tileas.tiled_load %v[%i, %i] after %grids : !mem {atom = #load, allow_tma = true} : !view -> !tile, !mem
  func.return %t : !tile
}

// CHECK-LABEL: func.func @after_grids
// CHECK:         nv_tileas.async.tiled_tma_load

// Numbers that a block has acquired, in this round of a loop or another one.

func.func @after_numbers(%x: memref<256x256xf16>, %p: !nv_tileaa.ptr<i32, 1>, %n: index) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %v = nv_tileas.view %x : memref<256x256xf16> -> !view
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 1 : i32
  %none = nv_tileas.create_none : !mem
  %end, %loads = scf.for %i = %zero to %n step %one iter_args(%last = %none, %before = %none) -> (!mem, !mem) {
    %both = nv_tileaa.join_mem_token %none, %last : !mem, !mem -> !mem
    %t, %loaded = nv_tileas.tiled_load %v[%i, %zero] after %both : !mem {atom = #load, allow_tma = true} : !view -> !tile, !mem
    %all = nv_tileaa.join_mem_token %before, %loaded : !mem, !mem -> !mem
    %number, %counted = nv_tileas.atomic_rmw add %two, %p acq_rel gpu after %all : !mem : i32, !nv_tileaa.ptr<i32, 1> -> i32, !mem
    scf.yield %counted, %all : !mem, !mem
  }
  %last = nv_tileaa.join_mem_token %end, %loads : !mem, !mem -> !mem
  %t, %done = nv_tileas.tiled_load %v[%zero, %zero] after %last : !mem {atom = #load, allow_tma = true} : !view -> !tile, !mem
  func.return
}

// CHECK-LABEL: func.func @after_numbers
// CHECK:         nv_tileas.async.tiled_tma_load
// CHECK:         nv_tileas.atomic_rmw
// CHECK:         nv_tileas.async.tiled_tma_load

// A number that a block has waited for: a loop acquires it until it is there.

func.func @after_flag(%x: memref<256x256xf16>, %p: !nv_tileaa.ptr<i32, 1>, %i: index) -> !tile attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %v = nv_tileas.view %x : memref<256x256xf16> -> !view
  %one = arith.constant 1 : i32
  %none = nv_tileas.create_none : !mem
  %set = scf.while (%last = %none) : (!mem) -> !mem {
    %number, %read = nv_tileas.atomic_rmw or %one, %p acquire gpu after %last : !mem : i32, !nv_tileaa.ptr<i32, 1> -> i32, !mem
    %is_unset = arith.cmpi ne, %number, %one : i32
    scf.condition(%is_unset) %read : !mem
  } do {
  ^bb0(%again: !mem):
    scf.yield %again : !mem
  }
  %t, %done = nv_tileas.tiled_load %v[%i, %i] after %set : !mem {atom = #load, allow_tma = true} : !view -> !tile, !mem
  func.return %t : !tile
}

// CHECK-LABEL: func.func @after_flag
// CHECK:         scf.while
// CHECK:         nv_tileas.async.tiled_tma_load
