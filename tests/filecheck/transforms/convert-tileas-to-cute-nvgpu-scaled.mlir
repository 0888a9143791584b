// Block-scaled products: one thread copies the atoms of their scales to tensor memory, and multiplies.

// RUN: tileas-opt %s -p 'convert-tileas-to-cute-nvgpu{target=sm_100a},canonicalize,cse' | filecheck %s

#smem = #nv_tileas<space smem>

// Two operands of 128 rows by 256 elements of K: 8 scales of each row are two atoms of 512 bytes,
// at columns 128 and 132 for A, and at 136 and 140 for B.  The products of four steps take scales 0
// and 1 of the first atom, then 2 and 3, then those of the second one.

!a = tensor<128x256xf4E2M1FN, #smem>
!b = tensor<256x128xf4E2M1FN, #nv_tileas.shared<(256,128),(1,256)>>
!t = tensor<1x2x2x256xf8E8M0FNU, #smem>
!sfa = tensor<128x8xf8E8M0FNU, #nv_tileas.shared<((32,4),(4,2)),((16,4),(1,512))>>
!sfb = tensor<8x128xf8E8M0FNU, #nv_tileas.shared<((4,2),(32,4)),((1,512),(16,4))>>
!sum = tensor<128x128xf32, #nv_tileas.linear<"(128,128):(1@lane,1@column)">>
!rows = tensor<128x128xf32, #nv_tileas.linear<"(128,128):(1@thread,1@value)">>
!window = !nv_tileas.tiled_view<128x128xf32, gmem>

func.func @mxf4(%c: memref<128x128xf32>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %nothing = arith.constant dense<0.0> : !sum
  %x = nv_tileas.alloc_tensor : !a
  %y = nv_tileas.alloc_tensor : !a
  %p = nv_tileas.alloc_tensor : !t
  %q = nv_tileas.alloc_tensor : !t
  %z = nv_tileas.view %y : !a -> !b
  %sa = nv_tileas.view %p : !t -> !sfa
  %sb = nv_tileas.view %q : !t -> !sfb
  %d = nv_tileas.block_scaled_mma %x, %z, %nothing scales(%sa : !sfa, %sb : !sfb) {atom = #nv_tileas<atom tcgen05_e2m1_e2m1_f32>} : !a, !b, !sum -> !sum
  %r = nv_tileas.convert_layout %d : !sum -> !rows
  %w = nv_tileas.view %c : memref<128x128xf32> -> !window
  nv_tileas.tiled_store %r, %w[%zero, %zero] {atom = #nv_tileas<atom stg>} : !rows, !window
  func.return
}

// CHECK-LABEL: func.func @mxf4(
// CHECK:         cute_nvgpu.arch.sm100.alloc_tmem %{{.*}}, 256 blocks 1
// CHECK:         [[D:%[0-9]+]] = cute_nvgpu.arch.sm100.retrieve_tmem_ptr
// CHECK-NEXT:    [[ONE:%[0-9]+]] = cute_nvgpu.arch.elect_one
// CHECK:         scf.if
// CHECK:         scf.if
// CHECK-NEXT:      [[SFA:%[0-9]+]] = cute_nvgpu.make_umma_smem_desc %{{.*}} swizzle "none" leading 16 stride 128
// CHECK:           [[A0:%[0-9]+]] = arith.addi [[D]], %{{.*}} : i32
// CHECK-NEXT:      cute_nvgpu.arch.copy.SM100.copy_s2t %{{.*}}, [[A0]] lanes 32 bits 128 broadcast "x4" blocks 1
// CHECK-NEXT:      [[NEXT:%[0-9]+]] = cute_nvgpu.smem_desc_add [[SFA]] bytes 512
// CHECK-NEXT:      %{{.*}} = arith.constant 132 : i32
// CHECK-NEXT:      [[A1:%[0-9]+]] = arith.addi [[D]], %{{.*}} : i32
// CHECK-NEXT:      cute_nvgpu.arch.copy.SM100.copy_s2t [[NEXT]], [[A1]] lanes 32 bits 128 broadcast "x4" blocks 1
// CHECK:           %{{.*}} = arith.constant 136 : i32
// CHECK-NEXT:      [[B0:%[0-9]+]] = arith.addi [[D]], %{{.*}} : i32
// CHECK:           %{{.*}} = arith.constant 140 : i32
// CHECK-NEXT:      [[B1:%[0-9]+]] = arith.addi [[D]], %{{.*}} : i32
// CHECK:           umma_block_scaled %{{.*}}, %{{.*}}, [[D]] scales [[A0]][0], [[B0]][0] accumulate %{{.*}} shape [128, 128, 64] kind "mxf4" scale_vec "2X" elements "e2m1", "e2m1", "ue8m0" blocks 1
// CHECK:           umma_block_scaled %{{.*}}, %{{.*}}, [[D]] scales [[A0]][2], [[B0]][2]
// CHECK:           umma_block_scaled %{{.*}}, %{{.*}}, [[D]] scales [[A1]][0], [[B1]][0]
// CHECK:           umma_block_scaled %{{.*}}, %{{.*}}, [[D]] scales [[A1]][2], [[B1]][2]
// CHECK-NEXT:    }
// CHECK-NEXT:    cute_nvgpu.arch.sm100.umma_commit
