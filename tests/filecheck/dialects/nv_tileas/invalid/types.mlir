// Types that are refused where they are written.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{an iterator has at least one stage, not 0}}
func.func private @f(!nv_tileas.async.pipeline.iterator<tensor<8xf16>, 0>)

// -----

// expected-error@+1 {{Expected `gmem`, `smem`, `tmem`, or `rmem`.}}
func.func private @f(!nv_tileas.async.pipeline.iterator<tensor<8xf16>, lmem>)

// -----

// expected-error@+1 {{expected '>'}}
func.func private @f(!nv_tileas.async.pipeline.iterator<tensor<8xf16>, 3, smem, 4>)

// -----

// expected-error@+1 {{expected ',': a view says where it lives, gmem, smem, tmem or rmem}}
func.func private @f(!nv_tileas.tiled_view<128x64xf16>)

// -----

// expected-error@+1 {{stride (64) is not congruent to shape (128,64)}}
func.func private @f(!nv_tileas.tiled_view<128x64xf16, smem, <(128,64),(64)>>)

// -----

// expected-error@+1 {{swizzle<2,3,2> is no swizzle of shared memory: the modes are none <0,4,3>, 32B <1,4,3>, 64B <2,4,3>, 128B <3,4,3>, 128B_BASE32B <2,5,2>}}
func.func private @f(tensor<8x8xf16, #nv_tileas.shared<(8,8),(8,1),swizzle<2,3,2>>>)

// -----

// expected-error@+1 {{a blocked encoding maps to the axes thread, value; (8,8):(1@lane,1@column) does not}}
func.func private @f(tensor<8x8xf16, #nv_tileas.blocked<"(8,8):(1@lane,1@column)">>)

// -----

// expected-error@+1 {{a linear encoding maps to the axes thread, value or column, lane; (8,8):(1@thread,1@column) does not}}
func.func private @f(tensor<8x8xf16, #nv_tileas.linear<"(8,8):(1@thread,1@column)">>)

// -----

// expected-error@+1 {{a dot operand encoding is a plain layout onto named axes, not S<3,4,3> o 0 o (8,64):(64,1)}}
func.func private @f(tensor<8x64xf16, #nv_tileas.dot_operand<"S<3,4,3> o 0 o (8,64):(64,1)">>)
