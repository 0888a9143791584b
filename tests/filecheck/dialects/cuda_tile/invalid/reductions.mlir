// Reductions and scans that there are not.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// Operands, identities, results.

%t8_f32 = "test.op"() : () -> !cuda_tile.tile<8xf32>
%t4_f32 = "test.op"() : () -> !cuda_tile.tile<4xf32>
// expected-error@+1 {{'cuda_tile.reduce' op dimension (1) is out of bound [0, 1)}}
cuda_tile.reduce %t8_f32 dim=1 identities=[0.0 : f32] : tile<8xf32> -> tile<8xf32>
(%a: tile<f32>, %b: tile<f32>) {
  yield %a : tile<f32>
}
// expected-error@+1 {{'cuda_tile.scan' op attribute 'dim' failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative}}
cuda_tile.scan %t8_f32 dim=-1 reverse=false identities=[0.0 : f32] : tile<8xf32> -> tile<8xf32>
(%a: tile<f32>, %b: tile<f32>) {
  yield %a : tile<f32>
}
// expected-error@+1 {{'cuda_tile.reduce' op expect identities to match the number of operands but got: 1 operands and 0 identities}}
cuda_tile.reduce %t8_f32 dim=0 identities=[] : tile<8xf32> -> tile<f32>
(%a: tile<f32>, %b: tile<f32>) {
  yield %a : tile<f32>
}
// expected-error@+1 {{'cuda_tile.reduce' op expect same type for operand at index: 0 and identity at index: 0 but got: 'f32' and 'i32'}}
cuda_tile.reduce %t8_f32 dim=0 identities=[0 : i32] : tile<8xf32> -> tile<f32>
(%a: tile<f32>, %b: tile<f32>) {
  yield %a : tile<f32>
}
// expected-error@+1 {{'cuda_tile.reduce' op expect same number of operands and results}}
cuda_tile.reduce %t8_f32 dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>, tile<f32>
(%a: tile<f32>, %b: tile<f32>) {
  yield %a : tile<f32>
}
// expected-error@+1 {{'cuda_tile.reduce' op inferred type(s) '!cuda_tile.tile<f32>' are incompatible with return type(s) of operation '!cuda_tile.tile<8xf32>'}}
cuda_tile.reduce %t8_f32 dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<8xf32>
(%a: tile<f32>, %b: tile<f32>) {
  yield %a : tile<f32>
}
// expected-error@+1 {{'cuda_tile.scan' op expect same type for operand at index: 0 and result at index: 0}}
cuda_tile.scan %t8_f32 dim=0 reverse=false identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
(%a: tile<f32>, %b: tile<f32>) {
  yield %a : tile<f32>
}
// expected-error@+1 {{'cuda_tile.reduce' op requires the same shape for all operands}}
cuda_tile.reduce %t8_f32, %t4_f32 dim=0 identities=[0.0 : f32, 0.0 : f32] : tile<8xf32>, tile<4xf32> -> tile<f32>, tile<f32>
(%a: tile<f32>, %b: tile<f32>) {
  yield %a : tile<f32>
}
// expected-error@+1 {{'cuda_tile.reduce' op expected 1 or more operands, but found 0}}
"cuda_tile.reduce"() <{dim = 0 : i32, identities = []}> ({}) : () -> ()

// -----

// Bodies.

%t8_f32 = "test.op"() : () -> !cuda_tile.tile<8xf32>
%t_f16 = "test.op"() : () -> !cuda_tile.tile<f16>
%tok = "test.op"() : () -> !cuda_tile.token
// expected-error@+1 {{'cuda_tile.reduce' op expect 2 block arguments but got: 1}}
cuda_tile.reduce %t8_f32 dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
(%a: tile<f32>) {
  yield %a : tile<f32>
}
// expected-error@+1 {{'cuda_tile.reduce' op expect 0-rank tile type at index: 1 but got: '!cuda_tile.tile<1xf32>'}}
cuda_tile.reduce %t8_f32 dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
(%a: tile<f32>, %b: tile<1xf32>) {
  yield %a : tile<f32>
}
// expected-error@+1 {{'cuda_tile.reduce' op expect same element type for block argument at index: 0 and 1 but got: 'f32' and 'f16'}}
cuda_tile.reduce %t8_f32 dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
(%a: tile<f32>, %b: tile<f16>) {
  yield %a : tile<f32>
}
// expected-error@+1 {{'cuda_tile.reduce' op expect same type for operand at index: 0 and block argument at index: 0 but got: 'f32' and 'f16'}}
cuda_tile.reduce %t8_f32 dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
(%a: tile<f16>, %b: tile<f16>) {
  yield %a : tile<f16>
}
// expected-error@+1 {{'cuda_tile.reduce' op expect number of terminators operands (0) to match number of operands (1)}}
cuda_tile.reduce %t8_f32 dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
(%a: tile<f32>, %b: tile<f32>) {
  yield
}
// expected-error@+1 {{'cuda_tile.reduce' op expect same type for operand at index: 0 and terminator argument at index: 0 but got: 'f32' and 'f16'}}
cuda_tile.reduce %t8_f32 dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
(%a: tile<f32>, %b: tile<f32>) {
  yield %t_f16 : tile<f16>
}
// expected-error@+1 {{'cuda_tile.reduce' op expected TileType for operand and terminator types but got: '!cuda_tile.tile<8xf32>' and '!cuda_tile.token'}}
cuda_tile.reduce %t8_f32 dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
(%a: tile<f32>, %b: tile<f32>) {
  yield %tok : token
}
cuda_tile.reduce %t8_f32 dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
(%a: tile<f32>, %b: tile<f32>) {
  // expected-error@+1 {{'cuda_tile.print_tko' op only memory-effect-free operations are allowed inside 'cuda_tile.reduce'}}
  %t = print_tko "" -> token
  yield %a : tile<f32>
}
// expected-error@+1 {{'cuda_tile.reduce' op region #0 ('body') failed to verify constraint: region with 1 blocks}}
cuda_tile.reduce %t8_f32 dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
() {}
// expected-error@+1 {{'cuda_tile.reduce' op expects regions to end with 'cuda_tile.yield', found 'test.termop'}}
cuda_tile.reduce %t8_f32 dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
(%a: tile<f32>, %b: tile<f32>) {
  "test.termop"() : () -> ()
}
