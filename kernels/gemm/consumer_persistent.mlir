$STAGING
%j0 = nv_tileas.async.pipeline.create_iterator %c0 : !cons -> !iter
%c_end, %j_end = scf.for %place = %start to %places step %clusters iter_args(%ct = %c0, %jt = %j0) -> (!cons, !iter) {
  $ORDER
  $TILE
  $EPILOGUE
  scf.yield %cn, %jn : !cons, !iter
}
