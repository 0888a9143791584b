%then = cutlass.pipeline.produce %pipe, %at bytes $SLOT : !pipe, !state -> !state {
^bb0(%stage: i32, %full: !barrier):
  $LOADS
  cutlass.yield
}
