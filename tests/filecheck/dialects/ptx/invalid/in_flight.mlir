// Registers that an asynchronous instruction still writes are for its wait.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

ptx.entry @read(%out: !ptx.param<u64>) {
  %d = ptx.undef -> !ptx.reg<b64>
  %p = ptx.undef -> !ptx.reg<pred>
  %acc = ptx.undef -> !ptx.reg<f32, 4>
  %one = ptx.wgmma %acc, %d, %d, %p {type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<f32, 4>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 4>
  // expected-note@+1 {{written by this}}
  %two = ptx.wgmma %one, %d, %d, %p {type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<f32, 4>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 4>
  ptx.wgmma.commit_group
  // expected-error@+1 {{'ptx.add' op reads registers that ptx.wgmma still writes; ptx.wgmma.wait_group gives them back}}
  %early = ptx.add %two, %two {type = "f32"} : !ptx.reg<f32, 4>, !ptx.reg<f32, 4> -> !ptx.reg<f32, 4>
  %done = ptx.wgmma.wait_group values(%two) {pending = 0} : !ptx.reg<f32, 4> -> !ptx.reg<f32, 4>
  %late = ptx.add %done, %done {type = "f32"} : !ptx.reg<f32, 4>, !ptx.reg<f32, 4> -> !ptx.reg<f32, 4>
  ptx.ret
}

// -----

// Through arguments of blocks too.

ptx.entry @passed(%out: !ptx.param<u64>) {
  %d = ptx.undef -> !ptx.reg<b64>
  %p = ptx.undef -> !ptx.reg<pred>
  %acc = ptx.undef -> !ptx.reg<f32, 4>
  ptx.bra ^loop(%acc : !ptx.reg<f32, 4>)
^loop(%carried: !ptx.reg<f32, 4>):
  // expected-note@+1 {{written by this}}
  %next = ptx.wgmma %carried, %d, %d, %p {type = "f32", a_type = "bf16", b_type = "bf16"} : !ptx.reg<f32, 4>, !ptx.reg<b64>, !ptx.reg<b64>, !ptx.reg<pred> -> !ptx.reg<f32, 4>
  ptx.cond_bra %p, ^loop(%next : !ptx.reg<f32, 4>), ^end(%d, %next : !ptx.reg<b64>, !ptx.reg<f32, 4>)
^end(%address: !ptx.reg<b64>, %result: !ptx.reg<f32, 4>):
  // expected-error@+1 {{'ptx.st' op reads registers that ptx.wgmma still writes; ptx.wgmma.wait_group gives them back}}
  ptx.st %address, %result {type = "f32", space = "global"} : !ptx.reg<b64>, !ptx.reg<f32, 4>
  ptx.ret
}

// -----

ptx.entry @loaded() {
  %t = ptx.undef -> !ptx.reg<b32>
  // expected-note@+1 {{written by this}}
  %x = ptx.tcgen05.ld %t {shape = "32x32b", repeat = 2} : !ptx.reg<b32> -> !ptx.reg<b32, 2>
  // ptx.extract is no instruction: its result is one of the registers in flight.
  %y = ptx.extract %x {start = 0} : !ptx.reg<b32, 2> -> !ptx.reg<b32>
  // expected-error@+1 {{'ptx.add' op reads registers that ptx.tcgen05.ld still writes; ptx.tcgen05.wait gives them back}}
  %early = ptx.add %y, %y {type = "s32"} : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
  %z = ptx.tcgen05.wait values(%x) {access = "ld"} : !ptx.reg<b32, 2> -> !ptx.reg<b32, 2>
  %w = ptx.extract %z {start = 0} : !ptx.reg<b32, 2> -> !ptx.reg<b32>
  ptx.ret
}
