$ROUND
%top = arith.muli %m, %bm : index
%first_row = arith.constant ${FIRST_ROW} : index
%row = arith.addi %top, %first_row : index
%column = arith.muli %n, %bn : index
%mine = nv_tileas.view %c[%row, %column] : !mc -> !window
nv_tileas.tiled_store %${RESULT}, %mine[%zero, %zero] {atom = #stg} : !out, !window
