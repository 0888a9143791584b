// A kernel that takes the parameters of the program alone: the CTA takes memory of the module and
// builds its tensor map there, from a template and the parameters.
// RUN: tileas-opt %s -p 'convert-tileas-to-cute-nvgpu{standalone=true}' | filecheck %s

#load = #nv_tileas<atom tma_load_2d<box = [64, 64]>>
#smem = #nv_tileas<space smem>

func.func @load(%p: !nv_tileaa.ptr<f16, 1>, %rows: i32, %pitch: i32) {
  %n = arith.constant 64 : index
  %columns = arith.constant 64 : i32
  %zero = arith.constant 0 : index
  %aligned = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %whole = nv_tileaa.assume %pitch, #nv_tileaa.div_by<8> : i32
  %m = nv_tileaa.make_memref %aligned, sizes[%rows : i32, %columns : i32], strides[%whole : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[?, 1]>>
  %d = nv_tileas.make_tiled_tma_desc %m box[%n, %n] {atom = #load} : memref<?x?xf16, strided<[?, 1]>> -> !nv_tileas.tma_desc
  %none = nv_tileas.create_none : !nv_tileas.mem_token
  %t = nv_tileas.alloc_tensor : tensor<64x64xf16, #smem>
  %l = nv_tileas.async.tiled_tma_load %d, %t[%zero, %zero] barrier %none {atom = #load} : !nv_tileas.tma_desc, tensor<64x64xf16, #smem>, index, index, !nv_tileas.mem_token -> !nv_tileas.token
  nv_tileas.async.wait %l : !nv_tileas.token
  func.return
}

// CHECK:      nv_tileaa.global "load_taken" {value = dense<0> : tensor<4096xi32>, alignment = 4 : i64}
// CHECK-NEXT: nv_tileaa.global "load_memory" {value = dense<0> : tensor<1048576xi8>, alignment = 128 : i64}
// CHECK-NEXT: nv_tileaa.global "load_tensor_maps" {{.*}} : tensor<128xi8>, alignment = 128 : i64}
// CHECK:      func.func @load(%ptr: !cute.ptr<f16, gmem>, %scalar: i32, %scalar_1: i32)
// CHECK-SAME: tileas.parameters = ["ptr 0", "scalar 1", "scalar 2"], tileas.tensor_maps = []

// One thread takes memory, beginning with that of its number.
// CHECK:      %[[WORDS:.*]] = cute.address_of @load_taken
// CHECK:      %[[MEMORY:.*]] = cute.address_of @load_memory
// CHECK:      scf.while
// CHECK:      cute_nvgpu.arch.atomic_cas %{{.*}}, %{{.*}} compare %{{.*}} order "acquire" scope "gpu"
// CHECK:      cute_nvgpu.arch.barrier id 0
// CHECK:      %[[MAP:.*]] = cute.add_offset %[[MEMORY]]
// CHECK-NEXT: %[[WORD:.*]] = cute.add_offset %[[WORDS]]

// A warp writes the map: what is constant, then what the launch passes.
// CHECK:      cute_nvgpu.copy_tma_desc %{{.*}} to %[[SMEM:.*]] :
// CHECK:      cute_nvgpu.update_tma_desc "global_address" of %[[SMEM]]
// CHECK-NEXT: cute_nvgpu.update_tma_desc "global_dim", 1 of %[[SMEM]], %scalar
// CHECK:      cute_nvgpu.update_tma_desc "global_stride", 0 of %[[SMEM]]
// CHECK:      cute_nvgpu.arch.publish_tma_desc %[[SMEM]] to %[[MAP]]
// CHECK:      cute_nvgpu.arch.barrier id 0
// CHECK-NEXT: %[[DESC:.*]] = cute_nvgpu.arch.acquire_tma_desc %[[MAP]]
// CHECK:      cute_nvgpu.arch.copy.SM90.tma_load %[[DESC]]

// At the end the memory is free for others.
// CHECK:      cute_nvgpu.arch.bulk_wait_group 0
// CHECK-NEXT: cute_nvgpu.arch.barrier id 0
// CHECK:      cute_nvgpu.arch.atomic_rmw "exch" %{{.*}}, %[[WORD]] order "release" scope "gpu"
// CHECK:      func.return
