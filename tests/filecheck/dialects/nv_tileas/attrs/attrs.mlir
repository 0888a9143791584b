// The attributes of nv_tileas.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s
// RUN: xdsl-opt %s | filecheck %s

// Atoms: copies, TMA, matrix instructions, reductions.

// CHECK: "test.op"() {a = #nv_tileas<atom ldg>, b = #nv_tileas<atom unknown_copy>, c = #nv_tileas<atom ldsm_m88_trans>}
"test.op"() {a = #nv_tileas<atom ldg>, b = #nv_tileas<atom unknown_copy>, c = #nv_tileas<atom ldsm_m88_trans>} : () -> ()

// CHECK: "test.op"() {a = #nv_tileas<atom tma_load_2d>, b = #nv_tileas<atom tma_load_3d<box = [1, 64, 64], mode = im2col, multicast>>, c = #nv_tileas<atom tma_store_2d<box = [64, 64]>>, d = #nv_tileas<atom tma_redg_2d<op = max>>}
"test.op"() {a = #nv_tileas<atom tma_load_2d>, b = #nv_tileas<atom tma_load_3d<box = [1, 64, 64], mode = im2col, multicast>>, c = #nv_tileas<atom tma_store_2d<box = [64, 64]>>, d = #nv_tileas<atom tma_redg_2d<op = max>>} : () -> ()

// CHECK: "test.op"() {a = #nv_tileas<atom mma_f16_f16_f32>, b = #nv_tileas<atom wgmma_bf16_bf16_f32<shape = [64, 256, 16]>>, c = #nv_tileas<atom tcgen05_mxf4_mxf4_f32<shape = [128, 256, 64], scale_vector = 32, cta_group = 2>>}
"test.op"() {a = #nv_tileas<atom mma_f16_f16_f32>, b = #nv_tileas<atom wgmma_bf16_bf16_f32<shape = [64, 256, 16]>>, c = #nv_tileas<atom tcgen05_mxf4_mxf4_f32<shape = [128, 256, 64], scale_vector = 32, cta_group = 2>>} : () -> ()

// CHECK: "test.op"() {a = #nv_tileas<atom reduce_add>, b = #nv_tileas<atom reduce_max>}
"test.op"() {a = #nv_tileas<atom reduce_add>, b = #nv_tileas<atom reduce_max>} : () -> ()

// Keywords.

// CHECK: "test.op"() {a = #nv_tileas<mem_semantic acq_rel>, b = #nv_tileas<mem_scope tl_blk>, c = #nv_tileas<rmw_mode umax>, d = #nv_tileas<padding neg_zero>, e = #nv_tileas<swizzle_mode "128B">, f = #nv_tileas<oob_mode nan>, g = #nv_tileas<signedness unsigned>, h = #nv_tileas<space tmem>}
"test.op"() {a = #nv_tileas<mem_semantic acq_rel>, b = #nv_tileas<mem_scope tl_blk>, c = #nv_tileas<rmw_mode umax>, d = #nv_tileas<padding neg_zero>, e = #nv_tileas<swizzle_mode "128B">, f = #nv_tileas<oob_mode nan>, g = #nv_tileas<signedness unsigned>, h = #nv_tileas<space tmem>} : () -> ()

// The layout of a load or store, in the published grammar.

// CHECK: "test.op"() {a = #nv_tileas.layout<(1,1),(0,0)>, b = #nv_tileas.layout<(16,(8,2)),(1,(16,8))>, c = #nv_tileas.layout<(128,64),(64,1),swizzle<3,4,3>,elem=nvfp4>, d = #nv_tileas.layout<((4,32),64),((1,512),16),elem=mxf4>}
"test.op"() {a = #nv_tileas.layout<(1,1),(0,0)>, b = #nv_tileas.layout<(16,(8,2)),(1,(16,8))>, c = #nv_tileas.layout<(128, 64), (64, 1), swizzle<3, 4, 3>, elem = nvfp4>, d = #nv_tileas.layout<((4,32),64),((1,512),16),elem=mxf4>} : () -> ()

// How a kernel is launched.

// CHECK: "test.op"() {a = #nv_tileaa.kernel_spec<num_warps = 4>, b = #nv_tileaa.kernel_spec<num_warps = 12, num_ctas = 2, cluster_dim = [2, 1, 1], occupancy = 2, max_regs = 168>}
"test.op"() {a = #nv_tileaa.kernel_spec<num_warps = 4>, b = #nv_tileaa.kernel_spec<num_warps = 12, num_ctas = 2, cluster_dim = [2, 1, 1], occupancy = 2, max_regs = 168>} : () -> ()
