// Piece by piece: a thread has not registers for all of its sums.
%top = arith.muli %m, %bm : index
%first_row = arith.constant ${FIRST_ROW} : index
%row = arith.addi %top, %first_row : index
%first_column = arith.muli %n, %bn : index
%pieces = arith.constant ${PIECES} : index
%piece = arith.constant ${PIECE} : index
scf.for %q = %zero to %pieces step %one {
  %column = arith.muli %q, %piece : index
  %${PART} = nv_tileas.extract_slice %acc[0, %column][${ROWS}, ${PIECE}][1, 1] : !acc -> !part
  $ROUND_PIECE
  %at = arith.addi %first_column, %column : index
  %mine = nv_tileas.view %c[%row, %at] : !mc -> !window
  nv_tileas.tiled_store %stored, %mine[%zero, %zero] {atom = #stg} : !piece, !window
}
