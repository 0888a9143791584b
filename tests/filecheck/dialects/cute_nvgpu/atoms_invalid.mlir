// What the types of atoms refuse, each with the nearest thing that it accepts.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{SM80 MMA does not support shape (16,8,17) for type 'f16'. See PTX ISA for valid shapes}}
func.func private @t(!cute_nvgpu.sm80.mma<16x8x17, elem_type = (f16, f16, f32) >)

// -----

// expected-error@+1 {{a_type and b_type must be the same (mixed integer signedness is allowed), but got a_type 'f16' b_type 'bf16'}}
func.func private @t(!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, bf16, f32) >)

// -----

// expected-error@+1 {{expects A/B of type s8/u8 and D of type i32}}
func.func private @t(!cute_nvgpu.sm80.mma<16x8x32, elem_type = (si8, ui8, f32) >)

// -----

// expected-error@+1 {{expects A/B of type s4/u4 and D of type i32}}
func.func private @t(!cute_nvgpu.sm80.mma<16x8x64, elem_type = (si4, ui4, f32) >)

// -----

// expected-error@+1 {{expects A/B of type u1 and D of type i32}}
func.func private @t(!cute_nvgpu.sm80.mma<16x8x256, elem_type = (i1, i1, f32) >)

// -----

// expected-error@+1 {{sums of bf16 are of f32, not of f16}}
func.func private @t(!cute_nvgpu.sm80.mma<16x8x8, elem_type = (bf16, bf16, f16) >)

// -----

// expected-error@+1 {{SM80 MMA does not support shape (16,8,8) for type 'f16'. See PTX ISA for valid shapes}}
func.func private @t(!cute_nvgpu.sm80.sparse_mma<16x8x8, elem_type = (f16, f16, f32), metadata = ordered >)

// -----

// expected-error@+1 {{metadata are standard or ordered, not none}}
func.func private @t(!cute_nvgpu.sm80.sparse_mma<16x8x32, elem_type = (f16, f16, f32), metadata = none >)

// -----

// expected-error@+1 {{SM89 MMA does not support A operand type: 'f16'. Supported types: e4m3fn, e5m2}}
func.func private @t(!cute_nvgpu.sm89.mma<16x8x32, elem_type = (f16, f8E5M2, f32) >)

// -----

// expected-error@+1 {{SM89 MMA does not support B operand type: 'f32'. Supported types: e4m3fn, e5m2}}
func.func private @t(!cute_nvgpu.sm89.mma<16x8x32, elem_type = (f8E5M2, f32, f32) >)

// -----

// expected-error@+1 {{floats of 8 bits are multiplied 16x8x16 or 16x8x32, not 16x8x64}}
func.func private @t(!cute_nvgpu.sm89.mma<16x8x64, elem_type = (f8E5M2, f8E5M2, f32) >)

// -----

// expected-error@+1 {{GMMA expects MMA_K has 256bits width, but got MMA_K (15) with (16) bits.}}
func.func private @t(!cute_nvgpu.sm90.mma<64x128x15, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>)

// -----

// expected-error@+1 {{expects M to be 64 in GMMA, but got 128}}
func.func private @t(!cute_nvgpu.sm90.mma<128x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>)

// -----

// expected-error@+1 {{wgmma has N 8 to 256 in steps of 8, not 264}}
func.func private @t(!cute_nvgpu.sm90.mma<64x264x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>)

// -----

// expected-error@+1 {{wgmma has N 8, 16, 24 and 32 to 256 in steps of 16, not 40}}
func.func private @t(!cute_nvgpu.sm90.mma<64x40x32, ab_major = (k, k), elem_type = (si8, si8, i32), frag_kind = ss>)

// -----

// expected-error@+1 {{wgmma reads tf32 k-major only}}
func.func private @t(!cute_nvgpu.sm90.mma<64x64x8, ab_major = (k, mn), elem_type = (tf32, tf32, f32), frag_kind = ss>)

// -----

// expected-error@+1 {{A in registers is k-major}}
func.func private @t(!cute_nvgpu.sm90.mma<64x64x16, ab_major = (mn, k), elem_type = (f16, f16, f32), frag_kind = rs>)

// -----

// expected-error@+1 {{wgmma has no product of f16 and bf16}}
func.func private @t(!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, bf16, f32), frag_kind = ss>)

// -----

// expected-error@+1 {{sums of bf16 are of f32, not of f16}}
func.func private @t(!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (bf16, bf16, f16), frag_kind = ss>)

// -----

// expected-error@+1 {{ab_major is of k and mn, not (k, r)}}
func.func private @t(!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, r), elem_type = (f16, f16, f32), frag_kind = ss>)

// -----

// expected-error@+1 {{frag_kind is ss or rs, not ts}}
func.func private @t(!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ts>)

// -----

// expected-error@+1 {{UMMA expects MMA_K=16, but got MMA_K=32}}
func.func private @t(!cute_nvgpu.sm100.mma<128x128x32, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss, c_scale_exp = 0>)

// -----

// expected-error@+1 {{expects `num_cta` equals to 1 or 2, but got 4}}
func.func private @t(!cute_nvgpu.sm100.mma<128x128x16, num_cta = 4, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss, c_scale_exp = 0>)

// -----

// expected-error@+1 {{kind::f16 with cta_group::1 has M 64 or 128, not 192}}
func.func private @t(!cute_nvgpu.sm100.mma<192x256x16, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss, c_scale_exp = 0>)

// -----

// expected-error@+1 {{kind::f16 with cta_group::1 has N 8 to 256 in steps of 8, not 264}}
func.func private @t(!cute_nvgpu.sm100.mma<128x264x16, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss, c_scale_exp = 0>)

// -----

// expected-error@+1 {{sums of f8E4M3FN are not scaled}}
func.func private @t(!cute_nvgpu.sm100.mma<128x64x32, num_cta = 1, ab_major = (k, k), elem_type = (f8E4M3FN, f8E4M3FN, f32), frag_kind = ss, c_scale_exp = 1>)

// -----

// expected-error@+1 {{c_scale_exp is 0 to 15, not 16}}
func.func private @t(!cute_nvgpu.sm100.mma<128x64x16, num_cta = 1, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss, c_scale_exp = 16>)

// -----

// expected-error@+1 {{sums of bf16 are not of f16}}
func.func private @t(!cute_nvgpu.sm100.mma<128x64x16, num_cta = 1, ab_major = (k, k), elem_type = (bf16, bf16, f16), frag_kind = ss, c_scale_exp = 0>)

// -----

// expected-error@+1 {{tcgen05.mma has no product of bf16 and f16}}
func.func private @t(!cute_nvgpu.sm100.mma<128x64x16, num_cta = 1, ab_major = (k, k), elem_type = (bf16, f16, f32), frag_kind = ss, c_scale_exp = 0>)

// -----

// expected-error@+1 {{expects `vecSize == 32` in QMMA, but got vecSize=16}}
func.func private @t(!cute_nvgpu.sm100.mma_bs<128x128x32, num_cta = 1, ab_major = (k, k), elem_type = (f8E4M3FN, f8E4M3FN, f32), sf_type = f8E8M0FNU, frag_kind = ss, vec_size = 16>)

// -----

// expected-error@+1 {{expects QMMA acceptable types, but got 'f8E4M3FN'/'f6E2M3FN'/'f16'}}
func.func private @t(!cute_nvgpu.sm100.mma_bs<128x128x32, num_cta = 1, ab_major = (k, k), elem_type = (f8E4M3FN, f6E2M3FN, f16), sf_type = f8E8M0FNU, frag_kind = ss, vec_size = 32>)

// -----

// expected-error@+1 {{expects sfType to be e8m0 in QMMA, but got 'f8E4M3FN'}}
func.func private @t(!cute_nvgpu.sm100.mma_bs<128x128x32, num_cta = 1, ab_major = (k, k), elem_type = (f8E4M3FN, f6E2M3FN, f32), sf_type = f8E4M3FN, frag_kind = ss, vec_size = 32>)

// -----

// expected-error@+1 {{expects OMMA acceptable types, but got 'f8E4M3FN'/'f4E2M1FN'/'f32'}}
func.func private @t(!cute_nvgpu.sm100.mma_bs<128x128x64, num_cta = 1, ab_major = (k, k), elem_type = (f8E4M3FN, f4E2M1FN, f32), sf_type = f8E4M3FN, frag_kind = ss, vec_size = 16>)

// -----

// expected-error@+1 {{Given VecSize 32 is not supported or has conflict with other attributes like A/B types: f4E2M1FN, f4E2M1FN and scaling type: f8E4M3FN.}}
func.func private @t(!cute_nvgpu.sm100.mma_bs<128x128x64, num_cta = 1, ab_major = (k, k), elem_type = (f4E2M1FN, f4E2M1FN, f32), sf_type = f8E4M3FN, frag_kind = ss, vec_size = 32>)

// -----

// expected-error@+1 {{expects both a/b major mode to be k-major.}}
func.func private @t(!cute_nvgpu.sm100.mma_bs<128x128x64, num_cta = 1, ab_major = (k, mn), elem_type = (f4E2M1FN, f4E2M1FN, f32), sf_type = f8E4M3FN, frag_kind = ss, vec_size = 16>)

// -----

// expected-error@+1 {{Can't find a legal MMA instruction for the given ShapeMNK: #cute.shape<"(128,128,96)">}}
func.func private @t(!cute_nvgpu.sm100.mma_bs<128x128x96, num_cta = 1, ab_major = (k, k), elem_type = (f4E2M1FN, f4E2M1FN, f32), sf_type = f8E4M3FN, frag_kind = ss, vec_size = 16>)

// -----

// expected-error@+1 {{kind::mxf4 with cta_group::1 has M 128, not 64}}
func.func private @t(!cute_nvgpu.sm100.mma_bs<64x128x64, num_cta = 1, ab_major = (k, k), elem_type = (f4E2M1FN, f4E2M1FN, f32), sf_type = f8E4M3FN, frag_kind = ss, vec_size = 16>)

// -----

// expected-error@+1 {{a warp multiplies with scales 16x8x32 or 16x8x64, not 16x16x32}}
func.func private @t(!cute_nvgpu.SM120.mma_bs<16x16x32, vec_size = 32, elem_type = (f8E4M3FN, f8E4M3FN, f32), sf_type = f8E8M0FNU, use_sf_layout_TV = false>)

// -----

// expected-error@+1 {{a view is of descriptors !cute_nvgpu.smem_desc, not f16}}
func.func private @t(!cute_nvgpu.smem_desc_view<f16, "1:0">)

// -----

// expected-error@+1 {{one thread multiplies 1x1x1, not 2x1x1}}
func.func private @t(!cute_nvgpu.atom.universal_fma<2x1x1, (f32, f32) -> f32 >)

// -----

// expected-error@+1 {{a thread copies 8, 16, 32, 64, 128 bits, not 24}}
func.func private @t(!cute_nvgpu.atom.universal_copy<f16, 24 b>)

// -----

// expected-error@+1 {{a copy is cta, cluster, gpu, sys, not block}}
func.func private @t(!cute_nvgpu.atom.universal_copy<f16, 32 b, mem_scope = block>)

// -----

// expected-error@+1 {{unsupported cp.async vector width}}
func.func private @t(!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 16 b>)

// -----

// expected-error@+1 {{cp.async with cache = global copies 16 bytes, not 8}}
func.func private @t(!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 64 b>)

// -----

// expected-error@+1 {{cp.async uses the caches always, global, not streaming}}
func.func private @t(!cute_nvgpu.atom.simt_async_copy<f16, cache = streaming, 64 b>)

// -----

// expected-error@+1 {{LDSM is not supported with this config.}}
func.func private @t(!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 3, n>)

// -----

// expected-error@+1 {{LDSM is not supported with this config.}}
func.func private @t(!cute_nvgpu.atom.ldsm<val_type = i8, mode = <"(16,16)">, sz_pattern = u8, num_matrices = 4, t>)

// -----

// expected-error@+1 {{LDSM is not supported with this config.}}
func.func private @t(!cute_nvgpu.atom.ldsm<val_type = i8, mode = <"(16,16)">, sz_pattern = u8, num_matrices = 2, n>)

// -----

// expected-error@+1 {{stmatrix has no 2 matrices of 8x16, n}}
func.func private @t(!cute_nvgpu.atom.stsm<f16, mode = <"(8,16)">, num_matrices = 2, n>)

// -----

// expected-error@+1 {{a repetition of 64 or 128 is not supported when the number of data paths is 16 and the number of bits is 256}}
func.func private @t(!cute_nvgpu.atom.tmem_load<f32, 16 DP, 256 bit, x64>)

// -----

// expected-error@+1 {{16x128b repeats a power of two up to 64 times, not 128}}
func.func private @t(!cute_nvgpu.atom.tmem_load<f32, 16 DP, 128 bit, x128>)

// -----

// expected-error@+1 {{tensor memory is moved 32x32b, 16x64b, 16x128b, 16x256b, not 32x64b}}
func.func private @t(!cute_nvgpu.atom.tmem_store<f32, 32 DP, 64 bit, x1>)

// -----

// expected-error@+1 {{Shape 64x128b requires multicast warpx2_01_23 or warpx2_02_13 for tcgen05.cp Op}}
func.func private @t(!cute_nvgpu.atom.s2t_copy<f32, 64 DP, 128 bit, 1 cta, x4>)

// -----

// expected-error@+1 {{Shape 32x128b requires multicast warpx4 for tcgen05.cp Op}}
func.func private @t(!cute_nvgpu.atom.s2t_copy<f32, 32 DP, 128 bit, 1 cta, none>)

// -----

// expected-error@+1 {{Invalid multicast type for tcgen05.cp Op}}
func.func private @t(!cute_nvgpu.atom.s2t_copy<f32, 128 DP, 128 bit, 1 cta, x4>)

// -----

// expected-error@+1 {{tcgen05.cp copies 128x256b, 4x256b, 128x128b, 64x128b, 32x128b, not 16x128b}}
func.func private @t(!cute_nvgpu.atom.s2t_copy<f32, 16 DP, 128 bit, 1 cta, x4>)

// -----

// expected-error@+1 {{the mode of a load is tiled, im2col, w128, w, gather4, not rows}}
func.func private @t(!cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, mode = rows, num_cta = 1, g_stride = <"()"> mcast = true tma_gbasis = <"(64,128):(1@1,1@0)">>)

// -----

// expected-error@+1 {{the mode of a store is tiled, im2col, scatter4, not w}}
func.func private @t(!cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, mode = w, g_stride = <"()"> tma_gbasis = <"(64,128):(1@1,1@0)">>)

// -----

// expected-error@+1 {{TMA moves whole units of 128 bits, not 100 bits}}
func.func private @t(!cute_nvgpu.atom.tma_reduce<f32, copy_bits = 100, mode = tiled, kind = ADD, g_stride = <"()"> tma_gbasis = <"(64,2):(1@1,1@0)">>)

// -----

// expected-error@+1 {{a reduction is ADD, MIN, MAX, INC, DEC, AND, OR, XOR, not add}}
func.func private @t(!cute_nvgpu.atom.tma_reduce<f32, copy_bits = 4096, mode = tiled, kind = add, g_stride = <"()"> tma_gbasis = <"(64,2):(1@1,1@0)">>)

// -----

// expected-error@+1 {{the kind of a load is sm_90, sm_90_multicast, sm_100_2sm, sm_100_2sm_multicast, not sm_80}}
func.func private @t(!cute_nvgpu.atom.non_exec_tiled_tma_load<sm_80, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16_RN>)

// -----

// expected-error@+1 {{tma_format is U8, U16, U32, S32, U64, S64, F16_RN, F32_RN, F32_FTZ_RN, F64_RN, BF16_RN, U4, U4_UNPACK_U8, U6_UNPACK_U8, TF32_RN, TF32_FTZ_RN, not F16}}
func.func private @t(!cute_nvgpu.atom.non_exec_tiled_tma_store<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, tma_format = F16>)
