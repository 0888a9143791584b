// Sparse products, the modifiers of tcgen05.mma, and the thirteen rules of what goes together.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "sm_100a"} {
  cute_nvgpu.arch.mma.SM100.umma_sparse %s, %s, %t metadata %t descriptor %t accumulate %y {kind = "f16", num_cta = 1 : i32, scale_input = 3 : i32, collector = "lastuse", ashift}
  func.return
}

// -----

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "sm_100a"} {
  cute_nvgpu.arch.mma.SM100.umma_block_scaled_sparse %s, %s, %t scales %t, %t metadata %t descriptor %t accumulate %y {kind = "mxf4nvf4", num_cta = 1 : i32, scale_vec = "4X"}
  func.return
}

// -----

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "sm_100f"} {
  // expected-error@+1 {{INT8 type is supported only on arch-conditional variants.}}
  cute_nvgpu.arch.mma.SM100.umma_sparse %s, %s, %t metadata %t descriptor %t accumulate %y {kind = "i8", num_cta = 1 : i32}
  func.return
}

// -----

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "sm_100f"} {
  // expected-error@+1 {{MXF4 and MXF4NVF4 types with Sparsity are supported only on arch-conditional variants.}}
  cute_nvgpu.arch.mma.SM100.umma_block_scaled_sparse %s, %s, %t scales %t, %t metadata %t descriptor %t accumulate %y {kind = "mxf4", num_cta = 1 : i32}
  func.return
}

// -----

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "sm_103f"} {
  // expected-error@+1 {{Explicit scale vector size is supported only on arch-conditional variants.}}
  cute_nvgpu.arch.mma.SM100.umma_block_scaled_sparse %s, %s, %t scales %t, %t metadata %t descriptor %t accumulate %y {kind = "mxf8f6f4", num_cta = 1 : i32, scale_vec = "1X"}
  func.return
}

// -----

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "sm_110a"} {
  // expected-error@+1 {{Scale input accumulator is not supported on this architecture.}}
  cute_nvgpu.arch.mma.SM100.umma_sparse %s, %s, %t metadata %t descriptor %t accumulate %y {kind = "f16", num_cta = 1 : i32, scale_input = 3 : i32}
  func.return
}

// -----

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "sm_100a"} {
  // expected-error@+1 {{Scale input accumulator can only be used with f16 and tf32 types}}
  cute_nvgpu.arch.mma.SM100.umma_sparse %s, %s, %t metadata %t descriptor %t accumulate %y {kind = "i8", num_cta = 1 : i32, scale_input = 3 : i32}
  func.return
}

// -----

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "sm_100a"} {
  // expected-error@+1 {{Block scale is not supported for f16, tf32, f8f6f4, and i8 types}}
  cute_nvgpu.arch.mma.SM100.umma_block_scaled_sparse %s, %s, %t scales %t, %t metadata %t descriptor %t accumulate %y {kind = "f8f6f4", num_cta = 1 : i32}
  func.return
}

// -----

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "sm_100a"} {
  // expected-error@+1 {{ashift is not supported with tcgen05.mma.block_scale variants}}
  cute_nvgpu.arch.mma.SM100.umma_block_scaled_sparse %s, %s, %t scales %t, %t metadata %t descriptor %t accumulate %y {kind = "mxf8f6f4", num_cta = 1 : i32, ashift}
  func.return
}

// -----

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "sm_100a"} {
  // expected-error@+1 {{cta_group::2 is not supported with weight stationary}}
  cute_nvgpu.arch.mma.SM100.umma_sparse %s, %s, %t metadata %t descriptor %t accumulate %y {kind = "f16", num_cta = 2 : i32, weight_stationary}
  func.return
}

// -----

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "sm_100a"} {
  // expected-error@+1 {{Cannot use weight stationary with mxf8f6f4 and fp4 types}}
  cute_nvgpu.arch.mma.SM100.umma_block_scaled_sparse %s, %s, %t scales %t, %t metadata %t descriptor %t accumulate %y {kind = "mxf4", num_cta = 1 : i32, weight_stationary}
  func.return
}

// -----

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "sm_100a"} {
  // expected-error@+1 {{Cannot use collector::a::use or colletor::a::fill with ashift}}
  cute_nvgpu.arch.mma.SM100.umma_sparse %s, %s, %t metadata %t descriptor %t accumulate %y {kind = "f16", num_cta = 1 : i32, ashift, collector = "fill"}
  func.return
}

// -----

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "sm_100a"} {
  // expected-error@+1 {{Cannot use 2X or 4X as scale vector size for mxf8f6f4 type}}
  cute_nvgpu.arch.mma.SM100.umma_block_scaled_sparse %s, %s, %t scales %t, %t metadata %t descriptor %t accumulate %y {kind = "mxf8f6f4", num_cta = 1 : i32, scale_vec = "2X"}
  func.return
}

// -----

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "sm_100a"} {
  // expected-error@+1 {{Cannot use 1X as scale vector size for mxf4nvf4 type}}
  cute_nvgpu.arch.mma.SM100.umma_block_scaled_sparse %s, %s, %t scales %t, %t metadata %t descriptor %t accumulate %y {kind = "mxf4nvf4", num_cta = 1 : i32, scale_vec = "1X"}
  func.return
}

// -----

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "sm_100a"} {
  // expected-error@+1 {{Cannot use 1X or 4X as scale vector size for mxf4 type}}
  cute_nvgpu.arch.mma.SM100.umma_block_scaled_sparse %s, %s, %t scales %t, %t metadata %t descriptor %t accumulate %y {kind = "mxf4", num_cta = 1 : i32, scale_vec = "4X"}
  func.return
}

// -----

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "sm_90a"} {
  // expected-error@+1 {{tcgen05.mma supported only on arch-conditional or family-conditional variants from SM100 onwards.}}
  cute_nvgpu.arch.mma.SM100.umma_sparse %s, %s, %t metadata %t descriptor %t accumulate %y {kind = "f16", num_cta = 1 : i32}
  func.return
}

// -----

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "sm_100a"} {
  // expected-error@+1 {{has no scales, which kind::mxf4 needs}}
  cute_nvgpu.arch.mma.SM100.umma_sparse %s, %s, %t metadata %t descriptor %t accumulate %y {kind = "mxf4", num_cta = 1 : i32}
  func.return
}

// -----

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "sm_100a"} {
  // expected-error@+1 {{is of kind f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4, not f64}}
  cute_nvgpu.arch.mma.SM100.umma_sparse %s, %s, %t metadata %t descriptor %t accumulate %y {kind = "f64", num_cta = 1 : i32}
  func.return
}

// -----

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "sm_100a"} {
  // expected-error@+1 {{collects A by fill, use, lastuse, discard, not by keep}}
  cute_nvgpu.arch.mma.SM100.umma_sparse %s, %s, %t metadata %t descriptor %t accumulate %y {kind = "f16", num_cta = 1 : i32, collector = "keep"}
  func.return
}

// -----

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "sm_100a"} {
  // expected-error@+1 {{divides by 2 to the 0 to 15, not 16}}
  cute_nvgpu.arch.mma.SM100.umma_sparse %s, %s, %t metadata %t descriptor %t accumulate %y {kind = "f16", num_cta = 1 : i32, scale_input = 16 : i32}
  func.return
}

// -----

func.func @wait() attributes {cute.target = "sm_120a"} {
  // expected-error@+1 {{tcgen05.wait supported only on arch-conditional or family-conditional variants from SM100 onwards.}}
  cute_nvgpu.arch.sm100.wait_tmem "load"
  func.return
}

// -----

// A target that nobody knows is an error of the text, at the operation that asks for it.

func.func @product(%s: !cute_nvgpu.smem_desc, %t: i32, %y: i1) attributes {cute.target = "accumulate"} {
  // expected-error@+1 {{'cute_nvgpu.arch.mma.SM100.umma_sparse' op unknown target 'accumulate': names are like sm_90, sm_90a, sm_100f}}
  cute_nvgpu.arch.mma.SM100.umma_sparse %s, %s, %t metadata %t descriptor %t accumulate %y {kind = "f16", num_cta = 1 : i32}
  func.return
}
