// Types that are refused where they are written.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{unknown kind of register 'u32'; kinds are pred, b16, b32, b64, b128, f32, f64}}
%a = ptx.undef -> !ptx.reg<u32>

// -----

// expected-error@+1 {{a tuple has 1 to 256 registers, not 0}}
%a = ptx.undef -> !ptx.reg<b32, 0>

// -----

// expected-error@+1 {{an alignment is a power of two up to 128, not 48}}
"test.op"() {type = !ptx.param<b8, 128, align 48>} : () -> ()

// -----

// expected-error@+1 {{unknown type 'f16' of a parameter}}
"test.op"() {type = !ptx.param<f16>} : () -> ()
