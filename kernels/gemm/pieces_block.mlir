scf.for %q = %zero to %pieces step %one {
  %column = arith.muli %q, %piece : index
  $MOVE
}
