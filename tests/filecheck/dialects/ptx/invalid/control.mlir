// What entries, variables in shared memory and branches refuse.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{'ptx.shared' op has an alignment that is a power of two, not 24}}
ptx.shared @a {size = 16, align = 24}
// expected-error@+1 {{'ptx.shared' op has a size, or is extern with size 0, but got 0}}
ptx.shared @b {size = 0, align = 16}
// expected-error@+1 {{'ptx.shared' op has a size, or is extern with size 0, but got 64}}
ptx.shared @c {size = 64, align = 16, extern}
ptx.shared @d {size = 64, align = 16}
// expected-error@+1 {{'ptx.shared' op declares what has a name in PTX, and 'two words' is none}}
ptx.shared @"two words" {size = 64, align = 16}

// -----

// expected-error@+1 {{'ptx.entry' op has parameters in .param space, but 0 is !ptx.reg<b32>}}
ptx.entry @registers(%a: !ptx.reg<b32>) {
  ptx.ret
}
// expected-error@+1 {{'ptx.entry' op expects 1 to 3 positive extents for maxntid, but got [0]}}
ptx.entry @empty() attributes {maxntid = array<i32: 0>} {
  ptx.ret
}
// expected-error@+1 {{'ptx.entry' op allows at most 1024 in maxntid, but got 2048}}
ptx.entry @large() attributes {maxntid = array<i32: 1024, 2>} {
  ptx.ret
}
// expected-error@+1 {{'ptx.entry' op allows at most 16 in reqnctapercluster, but got 32}}
ptx.entry @cluster() attributes {reqnctapercluster = array<i32: 32, 1, 1>} {
  ptx.ret
}
// expected-error@+1 {{'ptx.entry' op has either maxntid or reqntid}}
ptx.entry @both() attributes {maxntid = array<i32: 32>, reqntid = array<i32: 32>} {
  ptx.ret
}
// expected-error@+1 {{'ptx.entry' op declares what has a name in PTX, and '1st' is none}}
ptx.entry @"1st"() {
  ptx.ret
}
// expected-error@+1 {{'ptx.entry' op declares what has a name in PTX, and '_' is none}}
ptx.entry @names_of_parameters(%a: !ptx.param<u64>) attributes {parameter_names = ["_"]} {
  ptx.ret
}
ptx.entry @"$fine"(%a: !ptx.param<u64>) attributes {parameter_names = ["_1$"]} {
  ptx.ret
}
// expected-error@+1 {{'ptx.entry' op has 1 parameters, so as many names}}
ptx.entry @names(%a: !ptx.param<u64>) attributes {parameter_names = []} {
  ptx.ret
}

// -----

// expected-error@+1 {{'ptx.entry' op has blocks that end in ptx.bra, ptx.cond_bra, ptx.ret or ptx.exit}}
ptx.entry @open() {
  "test.termop"() : () -> ()
}

// -----

ptx.entry @edges() {
  %a = ptx.undef -> !ptx.reg<b32>
  %p = ptx.undef -> !ptx.reg<pred>
  // expected-error@+1 {{'ptx.cond_bra' op passes nothing to a block that takes !ptx.reg<b32>}}
  ptx.cond_bra %p, ^one(%a : !ptx.reg<b32>), ^one
^one(%x: !ptx.reg<b32>):
  // expected-error@+1 {{'ptx.bra' op passes !ptx.reg<b32> to a block that takes !ptx.reg<f32, 2>}}
  ptx.bra ^two(%x : !ptx.reg<b32>)
^two(%y: !ptx.reg<f32, 2>):
  ptx.exit
}
