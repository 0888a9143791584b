// Descriptors of operands in shared memory, from their layouts: those that are canonical, and not.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @canonical(%p0: !cute.ptr<bf16, smem, align<1024>, S<3,4,3>>, %p1: !cute.ptr<f16, smem, align<1024>, S<1,4,3>>, %p2: !cute.ptr<f16, smem, align<1024>, S<2,4,3>>, %p3: !cute.ptr<f16, smem, align<1024>, S<3,4,3>>, %p4: !cute.ptr<f16, smem, align<1024>>, %p5: !cute.ptr<f32, smem, align<1024>, S<3,4,3>>, %p6: !cute.ptr<f8E4M3FN, smem, align<1024>, S<3,4,3>>) {
  %0 = cute_nvgpu.umma_smem_desc_of %p3 layout <"(128,16):(64,1)"> major "k" : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
  %1 = cute_nvgpu.umma_smem_desc_of %p2 layout <"(128,16):(32,1)"> major "k" : !cute.ptr<f16, smem, align<1024>, S<2,4,3>>
  %2 = cute_nvgpu.umma_smem_desc_of %p1 layout <"(128,16):(16,1)"> major "k" : !cute.ptr<f16, smem, align<1024>, S<1,4,3>>
  %3 = cute_nvgpu.umma_smem_desc_of %p4 layout <"((8,16),(8,2)):((8,128),(1,64))"> major "k" : !cute.ptr<f16, smem, align<1024>>
  %4 = cute_nvgpu.umma_smem_desc_of %p5 layout <"(128,8):(32,1)"> major "k" : !cute.ptr<f32, smem, align<1024>, S<3,4,3>>
  %5 = cute_nvgpu.umma_smem_desc_of %p6 layout <"(128,32):(128,1)"> major "k" : !cute.ptr<f8E4M3FN, smem, align<1024>, S<3,4,3>>
  %6 = cute_nvgpu.umma_smem_desc_of %p3 layout <"((64,2),16):((1,1024),64)"> major "mn" : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
  %7 = cute_nvgpu.umma_smem_desc_of %p2 layout <"((32,4),(8,2)):((1,512),(32,256))"> major "mn" : !cute.ptr<f16, smem, align<1024>, S<2,4,3>>
  %8 = cute_nvgpu.umma_smem_desc_of %p1 layout <"((16,8),(8,2)):((1,256),(16,128))"> major "mn" : !cute.ptr<f16, smem, align<1024>, S<1,4,3>>
  %9 = cute_nvgpu.gmma_smem_desc_of %p3 layout <"(64,16):(64,1)"> major "k" : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
  %10 = cute_nvgpu.gmma_smem_desc_of %p0 layout <"((64,2),16):((1,1024),64)"> major "mn" : !cute.ptr<bf16, smem, align<1024>, S<3,4,3>>
  func.return
}

// -----

func.func @others(%p0: !cute.ptr<f16, smem, align<1024>, S<2,4,3>>, %p1: !cute.ptr<f16, smem, align<1024>, S<2,5,2>>, %p2: !cute.ptr<f16, smem, align<1024>, S<3,3,3>>, %p3: !cute.ptr<f16, smem, align<1024>, S<3,4,3>>, %p4: !cute.ptr<f32, smem, align<1024>, S<3,4,3>>) {
  // expected-error@+1 {{Not a canonical UMMA_K Layout: Expected stride failure.}}
  %0 = cute_nvgpu.umma_smem_desc_of %p3 layout <"(128,16):(65,1)"> major "k" : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
  // expected-error@+1 {{Not a canonical UMMA_K Layout: Expected stride failure.}}
  %1 = cute_nvgpu.umma_smem_desc_of %p3 layout <"(128,16):(32,1)"> major "k" : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
  // expected-error@+1 {{Not a canonical UMMA_K Layout: Expected MN-size multiple of 8.}}
  %2 = cute_nvgpu.umma_smem_desc_of %p3 layout <"(127,16):(64,1)"> major "k" : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
  // expected-error@+1 {{Not a canonical UMMA_K Layout: No flat offset mode}}
  %3 = cute_nvgpu.umma_smem_desc_of %p3 layout <"((3,8),16):((64,256),1)"> major "k" : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
  // expected-error@+1 {{Not a canonical UMMA_MN Layout: Expected K-size 256/sizeof_bits<T> or 512/sizeof_bits(T) in sparse gemm kernels.}}
  %4 = cute_nvgpu.umma_smem_desc_of %p3 layout <"(64,24):(1,64)"> major "mn" : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
  // expected-error@+1 {{Not a canonical UMMA_MN Layout: Expected stride failure.}}
  %5 = cute_nvgpu.umma_smem_desc_of %p0 layout <"(64,16):(1,64)"> major "mn" : !cute.ptr<f16, smem, align<1024>, S<2,4,3>>
  // expected-error@+1 {{Not a canonical UMMA_MN Layout: No flat offset mode}}
  %6 = cute_nvgpu.umma_smem_desc_of %p3 layout <"(64,(4,4)):(1,(64,512))"> major "mn" : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
  // expected-error@+1 {{unsupported swizzle, got S<3,3,3>}}
  %7 = cute_nvgpu.umma_smem_desc_of %p2 layout <"(128,16):(64,1)"> major "k" : !cute.ptr<f16, smem, align<1024>, S<3,3,3>>
  // expected-error@+1 {{Expect rank-2 vec_mode layout but got 128:16}}
  %8 = cute_nvgpu.umma_smem_desc_of %p3 layout <"128:16"> major "k" : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
  // expected-error@+1 {{is k or mn-major, not n-major}}
  %9 = cute_nvgpu.umma_smem_desc_of %p3 layout <"(128,16):(64,1)"> major "n" : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
  // expected-error@+1 {{sm_100a reads MN-major 32-bit operands in mode 128B_BASE32B, not 128B}}
  %10 = cute_nvgpu.umma_smem_desc_of %p4 layout <"(32,8):(1,32)"> major "mn" : !cute.ptr<f32, smem, align<1024>, S<3,4,3>>
  // expected-error@+1 {{unsupported swizzle, got S<2,5,2>}}
  %11 = cute_nvgpu.gmma_smem_desc_of %p1 layout <"(64,16):(1,64)"> major "mn" : !cute.ptr<f16, smem, align<1024>, S<2,5,2>>
  // expected-error@+1 {{Not a canonical GMMA_K Layout: Expected MN-size multiple of 8.}}
  %12 = cute_nvgpu.gmma_smem_desc_of %p3 layout <"(63,16):(64,1)"> major "k" : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
  // expected-error@+1 {{Not a canonical GMMA_K Layout: Expected stride failure.}}
  %13 = cute_nvgpu.gmma_smem_desc_of %p3 layout <"(64,16):(32,1)"> major "k" : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
  // expected-error@+1 {{Not a canonical GMMA_MN Layout: Expected K-size 256/sizeof_bits<T>.}}
  %14 = cute_nvgpu.gmma_smem_desc_of %p3 layout <"(64,24):(1,64)"> major "mn" : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
  // expected-error@+1 {{Not a canonical GMMA_MN Layout: Expected stride failure.}}
  %15 = cute_nvgpu.gmma_smem_desc_of %p0 layout <"(64,16):(1,64)"> major "mn" : !cute.ptr<f16, smem, align<1024>, S<2,4,3>>
  func.return
}
