// Scopes that locations cannot have.

// RUN: tileas-opt %s --split-input-file --verify-diagnostics

// An inlined kernel.

// expected-error@+1 {{'cuda_tile.entry' op invalid function debug info location: loc(callsite(unknown at unknown)). Function location must not be a CallSiteLoc.}}
cuda_tile.module @m {
  entry @k() {
  } loc(callsite(unknown at unknown))
}

// -----

// A kernel in a block.

#file = #cuda_tile.di_file<"kernel.py" in "/home/user">
#unit = #cuda_tile.di_compile_unit<file = #file>
#k = #cuda_tile.di_subprogram<file = #file, line = 1, name = "f", linkageName = "k", compileUnit = #unit>
#block = #cuda_tile.di_lexical_block<scope = #k, file = #file, line = 3>
// expected-error@+1 {{'cuda_tile.entry' op invalid function debug info scope: #cuda_tile.di_lexical_block<scope = #cuda_tile.di_subprogram<file = #cuda_tile.di_file<"kernel.py" in "/home/user">, line = 1, name = "f", linkageName = "k", compileUnit = #cuda_tile.di_compile_unit<file = #cuda_tile.di_file<"kernel.py" in "/home/user">>>, file = #cuda_tile.di_file<"kernel.py" in "/home/user">, line = 3>. Function location must have cuda_tile.di_subprogram debug info scope.}}
cuda_tile.module @m {
  entry @k() {
  } loc(fused<#block>[unknown])
}

// -----

// A kernel of another name.

#file = #cuda_tile.di_file<"kernel.py" in "/home/user">
#unit = #cuda_tile.di_compile_unit<file = #file>
#k = #cuda_tile.di_subprogram<file = #file, line = 1, name = "f", linkageName = "k", compileUnit = #unit>
// expected-error@+1 {{'cuda_tile.entry' op invalid function debug info scope: #cuda_tile.di_subprogram<file = #cuda_tile.di_file<"kernel.py" in "/home/user">, line = 1, name = "f", linkageName = "k", compileUnit = #cuda_tile.di_compile_unit<file = #cuda_tile.di_file<"kernel.py" in "/home/user">>>. Function name "other" does not match subprogram scope linkage name "k".}}
cuda_tile.module @m {
  entry @other() {
  } loc(fused<#k>[unknown])
}

// -----

// A scope in a kernel without one.

#file = #cuda_tile.di_file<"kernel.py" in "/home/user">
#unit = #cuda_tile.di_compile_unit<file = #file>
#k = #cuda_tile.di_subprogram<file = #file, line = 1, name = "f", linkageName = "k", compileUnit = #unit>
cuda_tile.module @m {
  // expected-error@+1 {{'cuda_tile.make_token' op invalid operation debug info scope: #cuda_tile.di_subprogram<file = #cuda_tile.di_file<"kernel.py" in "/home/user">, line = 1, name = "f", linkageName = "k", compileUnit = #cuda_tile.di_compile_unit<file = #cuda_tile.di_file<"kernel.py" in "/home/user">>>. Operation has debug info scope, but function debug info scope is undefined.}}
  entry @k() {
    %0 = make_token : token loc(fused<#k>[unknown])
  }
}

// -----

// The scope of another kernel.

#file = #cuda_tile.di_file<"kernel.py" in "/home/user">
#unit = #cuda_tile.di_compile_unit<file = #file>
#k = #cuda_tile.di_subprogram<file = #file, line = 1, name = "f", linkageName = "k", compileUnit = #unit>
#l = #cuda_tile.di_subprogram<file = #file, line = 1, name = "f", linkageName = "l", compileUnit = #unit>
// expected-error@+1 {{invalid operation debug info scope: #cuda_tile.di_subprogram<file = #cuda_tile.di_file<"kernel.py" in "/home/user">, line = 1, name = "f", linkageName = "l", compileUnit = #cuda_tile.di_compile_unit<file = #cuda_tile.di_file<"kernel.py" in "/home/user">>>. Operation debug info scope does not match function debug info scope: #cuda_tile.di_subprogram<file = #cuda_tile.di_file<"kernel.py" in "/home/user">, line = 1, name = "f", linkageName = "k", compileUnit = #cuda_tile.di_compile_unit<file = #cuda_tile.di_file<"kernel.py" in "/home/user">>>.}}
cuda_tile.module @m {
  entry @k() {
    %0 = make_token : token loc(fused<#l>[unknown])
  } loc(fused<#k>[unknown])
}

// -----

// A global with a scope.

#file = #cuda_tile.di_file<"kernel.py" in "/home/user">
#unit = #cuda_tile.di_compile_unit<file = #file>
#k = #cuda_tile.di_subprogram<file = #file, line = 1, name = "f", linkageName = "k", compileUnit = #unit>
// expected-error@+1 {{'cuda_tile.global' op invalid operation debug info scope: loc(fused<#cuda_tile.di_subprogram<file = #cuda_tile.di_file<"kernel.py" in "/home/user">, line = 1, name = "f", linkageName = "k", compileUnit = #cuda_tile.di_compile_unit<file = #cuda_tile.di_file<"kernel.py" in "/home/user">>>>[unknown]). Global variables must not have scope.}}
cuda_tile.module @m {
  global @g <i32: 0> : tile<1xi32> loc(fused<#k>[unknown])
}
