%empty = cutlass.pipeline.producer_try_acquire %pipe, %at : !pipe, !state
cutlass.pipeline.producer_acquire %pipe, %at bytes $SLOT unless %empty : !pipe, !state
%full = cutlass.pipeline.get_producer_barrier %pipe, %at : !pipe, !state
%stage = cutlass.pipeline.state.get_index %at : !state
$LOADS
cutlass.pipeline.producer_commit %pipe, %at : !pipe, !state
%then = cutlass.pipeline.state.increment %at : !state -> !state
