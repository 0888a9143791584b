// Functions of the driver, bytes that they read, and memory of a thread's own.

// RUN: tileas-opt %s -t 'ptx{arch=sm_90a}' | filecheck %s --check-prefix PTX
// RUN: tileas-opt %s --print-op-generic | tileas-opt | tileas-opt | filecheck %s

ptx.global @text {data = array<i8: 104, 105, -1, 0>, align = 1 : i64}
ptx.global @table {data = array<i8: 0, 1>, align = 16 : i64, visible}
ptx.function @vprintf {parameters = ["b64", "b64"], result = "b32"}
ptx.function @report {parameters = ["f32"]}
ptx.function @stop {parameters = []}
ptx.entry @k(%0: !ptx.param<u64>) attributes {maxntid = array<i32: 128, 1, 1>} {
  %1 = ptx.local {size = 12 : i64, align = 8 : i64} -> !ptx.reg<b64>
  %2 = ptx.address {variable = @text} -> !ptx.reg<b64>
  %3 = ptx.const {value = 1.0} -> !ptx.reg<f32>
  %4 = ptx.call arguments(%2, %1) {callee = @vprintf} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b32>
  ptx.call arguments(%3) {callee = @report} : !ptx.reg<f32>
  ptx.call {callee = @stop}
  ptx.ret
}

// PTX:      .global .align 1 .b8 text[4] = {104, 105, 255, 0};
// PTX-NEXT: .visible .global .align 16 .b8 table[2] = {0, 1};
// PTX-NEXT: .extern .func (.param .b32 vprintf_result) vprintf (.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);
// PTX-NEXT: .extern .func report (.param .f32 report_param_0);
// PTX-NEXT: .extern .func stop ();
// PTX:      .local .align 8 .b8 local_W1[12];
// PTX-NEXT: mov.b64 %rd0, local_W1;
// PTX-NEXT: mov.b64 %rd1, text;
// PTX-NEXT: .param .b64 call_W2_0;
// PTX-NEXT: st.param.b64 [call_W2_0], %rd1;
// PTX-NEXT: .param .b64 call_W2_1;
// PTX-NEXT: st.param.b64 [call_W2_1], %rd0;
// PTX-NEXT: .param .b32 call_W2_result;
// PTX-NEXT: call.uni (call_W2_result), vprintf, (call_W2_0, call_W2_1);
// PTX-NEXT: ld.param.b32 %r0, [call_W2_result];
// PTX-NEXT: .param .f32 call_W3_0;
// PTX-NEXT: mov.f32 %f0, 0f3F800000;
// PTX-NEXT: st.param.f32 [call_W3_0], %f0;
// PTX-NEXT: call.uni report, (call_W3_0);
// PTX-NEXT: call.uni stop;
// PTX-NEXT: ret;

// CHECK:      ptx.global @text {data = array<i8: 104, 105, -1, 0>, align = 1 : i64}
// CHECK-NEXT: ptx.global @table {data = array<i8: 0, 1>, align = 16 : i64, visible}
// CHECK-NEXT: ptx.function @vprintf {parameters = ["b64", "b64"], result = "b32"}
// CHECK-NEXT: ptx.function @report {parameters = ["f32"]}
// CHECK-NEXT: ptx.function @stop {parameters = []}
// CHECK:      ptx.local {size = 12 : i64, align = 8 : i64} -> !ptx.reg<b64>
// CHECK:      ptx.call arguments({{.*}}, {{.*}}) {callee = @vprintf} : !ptx.reg<b64>, !ptx.reg<b64> -> !ptx.reg<b32>
// CHECK-NEXT: ptx.call arguments({{.*}}) {callee = @report} : !ptx.reg<f32>
// CHECK-NEXT: ptx.call {callee = @stop}
