// Arithmetic on integers, element by element.

// RUN: tileas-opt %s | filecheck %s
// RUN: tileas-opt %s --print-op-generic | tileas-opt | filecheck %s

// What may be known of wrap-around.

cuda_tile.module @wrapping {
  entry @wrapping() {
    %0 = constant <i32: 1> : tile<2xi32>
    %1 = addi %0, %0 : tile<2xi32>
    %2 = addi %0, %0 overflow<none> : tile<2xi32>
    %3 = subi %0, %0 overflow<no_signed_wrap> : tile<2xi32>
    %4 = muli %0, %0 overflow<no_unsigned_wrap> : tile<2xi32>
    %5 = shli %0, %0 overflow<no_wrap> : tile<2xi32>
    %6 = negi %0 overflow<no_signed_wrap> : tile<2xi32>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @wrapping {
// CHECK-NEXT:    entry @wrapping() {
// CHECK-NEXT:      %0 = constant <i32: 1> : tile<2xi32>
// CHECK-NEXT:      %1 = addi %0, %0 : tile<2xi32>
// CHECK-NEXT:      %2 = addi %0, %0 : tile<2xi32>
// CHECK-NEXT:      %3 = subi %0, %0 overflow<no_signed_wrap> : tile<2xi32>
// CHECK-NEXT:      %4 = muli %0, %0 overflow<no_unsigned_wrap> : tile<2xi32>
// CHECK-NEXT:      %5 = shli %0, %0 overflow<no_wrap> : tile<2xi32>
// CHECK-NEXT:      %6 = negi %0 overflow<no_signed_wrap> : tile<2xi32>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// How integers are read.

cuda_tile.module @signed {
  entry @signed() {
    %0 = constant <i32: 1> : tile<2xi32>
    %1 = maxi %0, %0 signed : tile<2xi32>
    %2 = mini %0, %0 unsigned : tile<2xi32>
    %3 = shri %0, %0 signed : tile<2xi32>
    %4 = remi %0, %0 unsigned : tile<2xi32>
    %5 = divi %0, %0 unsigned : tile<2xi32>
    %6 = divi %0, %0 signed rounding<negative_inf> : tile<2xi32>
    %7 = cmpi greater_than_or_equal %0, %0, signed : tile<2xi32> -> tile<2xi1>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @signed {
// CHECK-NEXT:    entry @signed() {
// CHECK-NEXT:      %0 = constant <i32: 1> : tile<2xi32>
// CHECK-NEXT:      %1 = maxi %0, %0 signed : tile<2xi32>
// CHECK-NEXT:      %2 = mini %0, %0 unsigned : tile<2xi32>
// CHECK-NEXT:      %3 = shri %0, %0 signed : tile<2xi32>
// CHECK-NEXT:      %4 = remi %0, %0 unsigned : tile<2xi32>
// CHECK-NEXT:      %5 = divi %0, %0 unsigned : tile<2xi32>
// CHECK-NEXT:      %6 = divi %0, %0 signed rounding<negative_inf> : tile<2xi32>
// CHECK-NEXT:      %7 = cmpi greater_than_or_equal %0, %0, signed : tile<2xi32> -> tile<2xi1>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }

// Bits.

cuda_tile.module @bits {
  entry @bits() {
    %0 = constant <i8: 1> : tile<i8>
    %1 = andi %0, %0 : tile<i8>
    %2 = ori %0, %0 : tile<i8>
    %3 = xori %0, %0 : tile<i8>
    %4 = absi %0 : tile<i8>
    %5 = mulhii %0, %0 : tile<i8>
    return
  }
}

// CHECK-LABEL: cuda_tile.module @bits {
// CHECK-NEXT:    entry @bits() {
// CHECK-NEXT:      %0 = constant <i8: 1> : tile<i8>
// CHECK-NEXT:      %1 = andi %0, %0 : tile<i8>
// CHECK-NEXT:      %2 = ori %0, %0 : tile<i8>
// CHECK-NEXT:      %3 = xori %0, %0 : tile<i8>
// CHECK-NEXT:      %4 = absi %0 : tile<i8>
// CHECK-NEXT:      %5 = mulhii %0, %0 : tile<i8>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
// CHECK-NEXT:  }
