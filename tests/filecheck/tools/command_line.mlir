// A wrong command line is one sentence and exit code 2.

// RUN: not tileas-opt %s -p canonicalise 2>&1 | filecheck %s --check-prefix PASS --match-full-lines
// RUN: not tileas-opt %s -p 'cse{fast=true}' 2>&1 | filecheck %s --check-prefix OPTION --match-full-lines
// RUN: not tileas-opt %s -t mlri 2>&1 | filecheck %s --check-prefix TARGET --match-full-lines
// RUN: not tileas-opt %s --fast 2>&1 | filecheck %s --check-prefix ARGUMENT --match-full-lines
// RUN: not tileas-opt missing.mlir 2>&1 | filecheck %s --check-prefix MISSING --match-full-lines
// RUN: not tileas-opt kernel.cubin 2>&1 | filecheck %s --check-prefix TYPE --match-full-lines

//     PASS: tileas-opt: error: unknown pass 'canonicalise'; did you mean {{.*}}canonicalize{{.*}}?
//   OPTION: tileas-opt: error: pass 'cse' has no option 'fast'; it takes no options
//   TARGET: tileas-opt: error: unknown target 'mlri'; did you mean {{.*}}mlir{{.*}}?
// ARGUMENT: tileas-opt: error: unrecognized arguments: --fast
//  MISSING: missing.mlir:1:1: error: cannot read the file: No such file or directory
//     TYPE: tileas-opt: error: unknown file extension '.cubin' of 'kernel.cubin'; -f takes mlir, tileirbc
