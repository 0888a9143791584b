%i0 = nv_tileas.async.pipeline.create_iterator %p0 : !prod -> !iter
%p_end, %i_end = scf.for %place = %start to %places step %clusters iter_args(%pt = %p0, %it = %i0) -> (!prod, !iter) {
  $ORDER
  $TILE
  scf.yield %pn, %in : !prod, !iter
}
