// Attributes that are refused where they are written.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{unknown atom 'ldgs'; atoms are ldg, stg, lds, sts, ldgsts, ldsm_m88, ldsm_m88_trans, ldsm_m816, stsm_m88, stsm_m88_trans, tcgen05_ld, tcgen05_st, tcgen05_cp, unknown_copy, tma_(load|store|redg)_Nd, (fma|mma|wgmma|tcgen05)_A_B_D, reduce_(add|mul|min|max|and|or|xor)}}
"test.op"() {a = #nv_tileas<atom ldgs>} : () -> ()

// -----

// expected-error@+1 {{the box of atom 'tma_load_2d' has 3 extents, not 2}}
"test.op"() {a = #nv_tileas<atom tma_load_2d<box = [1, 2, 3]>>} : () -> ()

// -----

// expected-error@+1 {{parameter 'box' of atom 'tma_load_2d' is a list of extents}}
"test.op"() {a = #nv_tileas<atom tma_load_2d<box = 64>>} : () -> ()

// -----

// expected-error@+1 {{parameter 'mode' of atom 'tma_load_2d' is a word}}
"test.op"() {a = #nv_tileas<atom tma_load_2d<mode = 2>>} : () -> ()

// -----

// expected-error@+1 {{parameter 'scale_vector' of atom 'tcgen05_mxf4_mxf4_f32' is an integer}}
"test.op"() {a = #nv_tileas<atom tcgen05_mxf4_mxf4_f32<scale_vector = many>>} : () -> ()

// -----

// expected-error@+1 {{atom 'ldg' has no parameter 'box'}}
"test.op"() {a = #nv_tileas<atom ldg<box = [64]>>} : () -> ()

// -----

// expected-error@+1 {{atom 'tma_redg_2d' reduces with add, min, max, and, or, xor, not fadd}}
"test.op"() {a = #nv_tileas<atom tma_redg_2d<op = fadd>>} : () -> ()

// -----

// expected-error@+1 {{atom 'mma_f16_f16_f31' multiplies 'f31', which is no element type}}
"test.op"() {a = #nv_tileas<atom mma_f16_f16_f31>} : () -> ()

// -----

// expected-error@+1 {{the shape of atom 'wgmma_f16_f16_f32' is [M, N, K]}}
"test.op"() {a = #nv_tileas<atom wgmma_f16_f16_f32<shape = [64, 64]>>} : () -> ()

// -----

// expected-error@+1 {{unknown element type 'bf17'; did you mean bf16?}}
"test.op"() {a = #nv_tileas.layout<(8,8),(8,1),elem=bf17>} : () -> ()

// -----

// expected-error@+1 {{num_warps is 1 to 32, not 64}}
"test.op"() {a = #nv_tileaa.kernel_spec<num_warps = 64>} : () -> ()

// -----

// expected-error@+1 {{cluster_dim has three extents, not 2}}
"test.op"() {a = #nv_tileaa.kernel_spec<cluster_dim = [2, 1]>} : () -> ()

// -----

// expected-error@+1 {{a kernel spec has no 'warps'; it has num_warps, num_ctas, cluster_dim, occupancy, max_regs}}
"test.op"() {a = #nv_tileaa.kernel_spec<warps = 4>} : () -> ()

// -----

// expected-error@+1 {{'num_warps' of a kernel spec is not written like this}}
"test.op"() {a = #nv_tileaa.kernel_spec<num_warps = [4]>} : () -> ()

// -----

// expected-error@+1 {{num_ctas, occupancy and tile_block_ctas are at least 1}}
"test.op"() {a = #nv_tileaa.kernel_spec<occupancy = 0>} : () -> ()

// -----

// expected-error@+1 {{max_regs is at most 255, not 512}}
"test.op"() {a = #nv_tileaa.kernel_spec<max_regs = 512>} : () -> ()

// -----

// expected-error@+1 {{cta_group of atom 'tcgen05_e2m1_e2m1_f32' is 1 or 2, not 7}}
"test.op"() {a = #nv_tileas<atom tcgen05_e2m1_e2m1_f32<cta_group = 7>>} : () -> ()

// -----

// expected-error@+1 {{cta_group of atom 'tcgen05_e2m1_e2m1_f32' is 1 or 2, not -1}}
"test.op"() {a = #nv_tileas<atom tcgen05_e2m1_e2m1_f32<cta_group = -1>>} : () -> ()

// -----

// expected-error@+1 {{cta_group of atom 'tcgen05_e2m1_e2m1_f32' is 1 or 2, not 0}}
"test.op"() {a = #nv_tileas<atom tcgen05_e2m1_e2m1_f32<cta_group = 0>>} : () -> ()

// -----

// expected-error@+1 {{only tcgen05 works with 2 CTAs; atom 'mma_f16_f16_f32' does not}}
"test.op"() {a = #nv_tileas<atom mma_f16_f16_f32<cta_group = 2>>} : () -> ()

// -----

// expected-error@+1 {{parameter 'multicast' of atom 'tma_load_2d' has no value}}
"test.op"() {a = #nv_tileas<atom tma_load_2d<multicast = 5>>} : () -> ()

// -----

// expected-error@+1 {{parameter 'box' of atom 'tma_load_2d' is a list of extents}}
"test.op"() {a = #nv_tileas<atom tma_load_2d<box>>} : () -> ()

// -----

// expected-error@+1 {{parameter 'box' of atom 'tma_load_2d' is a list of extents}}
"test.op"() {a = #nv_tileas<atom tma_load_2d<box = []>>} : () -> ()

// -----

// expected-error@+1 {{parameter 'mode' of atom 'tma_load_2d' is a word}}
"test.op"() {a = #nv_tileas<atom tma_load_2d<mode>>} : () -> ()

// -----

// expected-error@+1 {{parameter 'scale_vector' of atom 'tcgen05_e4m3_e4m3_f32' is an integer}}
"test.op"() {a = #nv_tileas<atom tcgen05_e4m3_e4m3_f32<scale_vector>>} : () -> ()

// -----

// The nearest that are accepted.

"test.op"() {a = #nv_tileas<atom tcgen05_e2m1_e2m1_f32<cta_group = 2>>, b = #nv_tileas<atom mma_f16_f16_f32<cta_group = 1>>, c = #nv_tileas<atom tma_load_2d<box = [8, 8], mode = tiled, multicast>>} : () -> ()

// -----

// expected-error@+1 {{atom 'mma_f16_f16_f32' has parameter 'shape' twice}}
"test.op"() {a = #nv_tileas<atom mma_f16_f16_f32<shape = [1, 1, 1], shape = [16, 8, 16]>>} : () -> ()
