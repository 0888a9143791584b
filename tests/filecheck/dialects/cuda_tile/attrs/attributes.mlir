// Attributes of operations, of types and of locations.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s | tileas-opt | filecheck %s

// Scopes, by aliases or not.

#file = #cuda_tile.di_file<"kernel.py" in "/home/user">
#unit = #cuda_tile.di_compile_unit<file = #file>
#f = #cuda_tile.di_subprogram<file = #file, line = 1, name = "f", linkageName = "f", compileUnit = #unit, scopeLine = 2>
#block = #cuda_tile.di_lexical_block<scope = #f, file = #file, line = 3, column = 4>
"test.op"() {
  a = #f,
  b = #block,
  c = #cuda_tile.di_loc<loc("kernel.py":3:4) in #block>
} : () -> ()

// CHECK:       #file = #cuda_tile.di_file<"kernel.py" in "/home/user">
// CHECK-NEXT:  #unit = #cuda_tile.di_compile_unit<file = #file>
// CHECK-NEXT:  #f = #cuda_tile.di_subprogram<file = #file, line = 1, name = "f", linkageName = "f", compileUnit = #unit, scopeLine = 2>
// CHECK-NEXT:  #block = #cuda_tile.di_lexical_block<scope = #f, file = #file, line = 3, column = 4>
// CHECK-NEXT:  builtin.module {
// CHECK-NEXT:  "test.op"() {a = #f, b = #block, c = #cuda_tile.di_loc<loc("kernel.py":3:4) in #block>} : () -> ()

// Keywords.

"test.op"() {
  a = #cuda_tile.signedness<unsigned>,
  b = #cuda_tile.overflow<no_signed_wrap>,
  c = #cuda_tile.rounding<nearest_away>,
  d = #cuda_tile.comparison_ordering<ordered>,
  e = #cuda_tile.comparison_predicate<not_equal>
} : () -> ()

// CHECK:       "test.op"() {a = #cuda_tile.signedness<unsigned>, b = #cuda_tile.overflow<no_signed_wrap>, c = #cuda_tile.rounding<nearest_away>, d = #cuda_tile.comparison_ordering<ordered>, e = #cuda_tile.comparison_predicate<not_equal>} : () -> ()

// Keywords of memory operations.

"test.op"() {
  a = #cuda_tile.atomic_rmw_mode<umax>,
  b = #cuda_tile.memory_scope<tl_blk>,
  c = #cuda_tile.memory_ordering_semantics<acq_rel>,
  d = #cuda_tile.padding_value<neg_inf>,
  e = #cuda_tile.symbol_visibility<private>,
  f = #cuda_tile.ptr_attr<none>
} : () -> ()

// CHECK:       "test.op"() {a = #cuda_tile.atomic_rmw_mode<umax>, b = #cuda_tile.memory_scope<tl_blk>, c = #cuda_tile.memory_ordering_semantics<acq_rel>, d = #cuda_tile.padding_value<neg_inf>, e = #cuda_tile.symbol_visibility<private>, f = #cuda_tile.ptr_attr<none>} : () -> ()

// Predicates and hints.

"test.op"() {
  a = #cuda_tile.div_by<16>,
  b = #cuda_tile.div_by<16, every 4 along 1>,
  c = #cuda_tile.same_elements<[1, 4]>,
  d = #cuda_tile.bounded<-1, ?>,
  e = #cuda_tile.optimization_hints<sm_100 = {num_cta_in_cga = 2}, default = {allow_tma = true}>,
  f = #cuda_tile.optimization_hints<>
} : () -> ()

// CHECK:       "test.op"() {a = #cuda_tile.div_by<16>, b = #cuda_tile.div_by<16, every 4 along 1>, c = #cuda_tile.same_elements<[1, 4]>, d = #cuda_tile.bounded<-1, ?>, e = #cuda_tile.optimization_hints<sm_100 = {num_cta_in_cga = 2}, default = {allow_tma = true}>, f = #cuda_tile.optimization_hints<>} : () -> ()
