// The attributes of nv_tileas.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s | filecheck %s

// Atoms: copies, TMA, matrix instructions, reductions.

// CHECK: "test.op"() {a = #nv_tileas<atom ldg>, b = #nv_tileas<atom unknown_copy>, c = #nv_tileas<atom ldsm_m88_trans>, d = #nv_tileas<atom ldsm_m816>, e = #nv_tileas<atom stg>, f = #nv_tileas<atom ldgsts>}
"test.op"() {a = #nv_tileas<atom ldg>, b = #nv_tileas<atom unknown_copy>, c = #nv_tileas<atom ldsm_m88_trans>, d = #nv_tileas<atom ldsm_m816>, e = #nv_tileas<atom stg>, f = #nv_tileas<atom ldgsts>} : () -> ()

// CHECK: "test.op"() {a = #nv_tileas<atom tma_load_2d>, b = #nv_tileas<atom tma_load_3d<box = [1, 64, 64], mode = im2col, multicast>>, c = #nv_tileas<atom tma_store_2d<box = [64, 64]>>, d = #nv_tileas<atom tma_redg_2d<op = max>>}
"test.op"() {a = #nv_tileas<atom tma_load_2d>, b = #nv_tileas<atom tma_load_3d<box = [1, 64, 64], mode = im2col, multicast>>, c = #nv_tileas<atom tma_store_2d<box = [64, 64]>>, d = #nv_tileas<atom tma_redg_2d<op = max>>} : () -> ()

// CHECK: "test.op"() {a = #nv_tileas<atom mma_f16_f16_f32>, b = #nv_tileas<atom wgmma_bf16_bf16_f32<shape = [64, 256, 16]>>, c = #nv_tileas<atom tcgen05_mxf4_mxf4_f32<shape = [128, 256, 64], scale_vector = 32, cta_group = 2>>}
"test.op"() {a = #nv_tileas<atom mma_f16_f16_f32>, b = #nv_tileas<atom wgmma_bf16_bf16_f32<shape = [64, 256, 16]>>, c = #nv_tileas<atom tcgen05_mxf4_mxf4_f32<shape = [128, 256, 64], scale_vector = 32, cta_group = 2>>} : () -> ()

// CHECK: "test.op"() {a = #nv_tileas<atom reduce_add>, b = #nv_tileas<atom reduce_max>}
"test.op"() {a = #nv_tileas<atom reduce_add>, b = #nv_tileas<atom reduce_max>} : () -> ()

// Every keyword of the published rosters: memory ordering and its scopes, updates, padding, descriptors.

// CHECK: "test.op"() {a = #nv_tileas<space gmem>, b = #nv_tileas<space smem>, c = #nv_tileas<space tmem>, d = #nv_tileas<space rmem>}
"test.op"() {a = #nv_tileas<space gmem>, b = #nv_tileas<space smem>, c = #nv_tileas<space tmem>, d = #nv_tileas<space rmem>} : () -> ()

// CHECK: "test.op"() {a = #nv_tileas<mem_semantic weak>, b = #nv_tileas<mem_semantic relaxed>, c = #nv_tileas<mem_semantic acquire>, d = #nv_tileas<mem_semantic release>, e = #nv_tileas<mem_semantic acq_rel>}
"test.op"() {a = #nv_tileas<mem_semantic weak>, b = #nv_tileas<mem_semantic relaxed>, c = #nv_tileas<mem_semantic acquire>, d = #nv_tileas<mem_semantic release>, e = #nv_tileas<mem_semantic acq_rel>} : () -> ()

// CHECK: "test.op"() {a = #nv_tileas<mem_scope tl_blk>, b = #nv_tileas<mem_scope cta>, c = #nv_tileas<mem_scope cluster>, d = #nv_tileas<mem_scope gpu>, e = #nv_tileas<mem_scope sys>}
"test.op"() {a = #nv_tileas<mem_scope tl_blk>, b = #nv_tileas<mem_scope cta>, c = #nv_tileas<mem_scope cluster>, d = #nv_tileas<mem_scope gpu>, e = #nv_tileas<mem_scope sys>} : () -> ()

// CHECK: "test.op"() {a = #nv_tileas<rmw_mode add>, b = #nv_tileas<rmw_mode and>, c = #nv_tileas<rmw_mode or>, d = #nv_tileas<rmw_mode xor>, e = #nv_tileas<rmw_mode xchg>, f = #nv_tileas<rmw_mode min>, g = #nv_tileas<rmw_mode max>, h = #nv_tileas<rmw_mode umin>, i = #nv_tileas<rmw_mode umax>, j = #nv_tileas<rmw_mode cmpxchg>, k = #nv_tileas<rmw_mode addf>}
"test.op"() {a = #nv_tileas<rmw_mode add>, b = #nv_tileas<rmw_mode and>, c = #nv_tileas<rmw_mode or>, d = #nv_tileas<rmw_mode xor>, e = #nv_tileas<rmw_mode xchg>, f = #nv_tileas<rmw_mode min>, g = #nv_tileas<rmw_mode max>, h = #nv_tileas<rmw_mode umin>, i = #nv_tileas<rmw_mode umax>, j = #nv_tileas<rmw_mode cmpxchg>, k = #nv_tileas<rmw_mode addf>} : () -> ()

// CHECK: "test.op"() {a = #nv_tileas<padding nan>, b = #nv_tileas<padding pos_inf>, c = #nv_tileas<padding neg_inf>, d = #nv_tileas<padding neg_zero>}
"test.op"() {a = #nv_tileas<padding nan>, b = #nv_tileas<padding pos_inf>, c = #nv_tileas<padding neg_inf>, d = #nv_tileas<padding neg_zero>} : () -> ()

// CHECK: "test.op"() {a = #nv_tileas<swizzle_mode none>, b = #nv_tileas<swizzle_mode "32B">, c = #nv_tileas<swizzle_mode "64B">, d = #nv_tileas<swizzle_mode "128B">}
"test.op"() {a = #nv_tileas<swizzle_mode none>, b = #nv_tileas<swizzle_mode "32B">, c = #nv_tileas<swizzle_mode "64B">, d = #nv_tileas<swizzle_mode "128B">} : () -> ()

// CHECK: "test.op"() {a = #nv_tileas<oob_mode zero>, b = #nv_tileas<oob_mode nan>, c = #nv_tileas<oob_mode constant>}
"test.op"() {a = #nv_tileas<oob_mode zero>, b = #nv_tileas<oob_mode nan>, c = #nv_tileas<oob_mode constant>} : () -> ()

// CHECK: "test.op"() {a = #nv_tileas<signedness signed>, b = #nv_tileas<signedness unsigned>}
"test.op"() {a = #nv_tileas<signedness signed>, b = #nv_tileas<signedness unsigned>} : () -> ()

// Every mode of a descriptor's atom.

// CHECK: "test.op"() {a = #nv_tileas<atom tma_load_2d>, b = #nv_tileas<atom tma_load_2d<mode = im2col>>, c = #nv_tileas<atom tma_load_2d<mode = im2col_at>>, d = #nv_tileas<atom tma_load_2d<mode = tiled_at>>, e = #nv_tileas<atom tma_load_2d<mode = gather4>>, f = #nv_tileas<atom tma_store_2d<mode = scatter4>>}
"test.op"() {a = #nv_tileas<atom tma_load_2d<mode = tiled>>, b = #nv_tileas<atom tma_load_2d<mode = im2col>>, c = #nv_tileas<atom tma_load_2d<mode = im2col_at>>, d = #nv_tileas<atom tma_load_2d<mode = tiled_at>>, e = #nv_tileas<atom tma_load_2d<mode = gather4>>, f = #nv_tileas<atom tma_store_2d<mode = scatter4>>} : () -> ()

// The layout of a load or store, in the published grammar.

// CHECK: "test.op"() {a = #nv_tileas.layout<(1,1),(0,0)>, b = #nv_tileas.layout<(16,(8,2)),(1,(16,8))>, c = #nv_tileas.layout<(128,64),(64,1),swizzle<3,4,3>,elem=nvfp4>, d = #nv_tileas.layout<((4,32),64),((1,512),16),elem=mxf4>}
"test.op"() {a = #nv_tileas.layout<(1,1),(0,0)>, b = #nv_tileas.layout<(16,(8,2)),(1,(16,8))>, c = #nv_tileas.layout<(128, 64), (64, 1), swizzle<3, 4, 3>, elem = nvfp4>, d = #nv_tileas.layout<((4,32),64),((1,512),16),elem=mxf4>} : () -> ()

// How a kernel is launched.

// CHECK: "test.op"() {a = #nv_tileaa.kernel_spec<num_warps = 4>, b = #nv_tileaa.kernel_spec<num_warps = 12, num_ctas = 2, cluster_dim = [2, 1, 1], occupancy = 2, max_regs = 168>}
"test.op"() {a = #nv_tileaa.kernel_spec<num_warps = 4>, b = #nv_tileaa.kernel_spec<num_warps = 12, num_ctas = 2, cluster_dim = [2, 1, 1], occupancy = 2, max_regs = 168>} : () -> ()
