// Piece by piece through one tile of shared memory.
%parts = arith.constant ${CONSUMERS} : index
%first_part = arith.muli %m, %parts : index
%consumer = arith.constant ${INDEX} : index
%row = arith.addi %first_part, %consumer : index
%pieces = arith.constant ${PIECES} : index
%first_piece = arith.muli %n, %pieces : index
$MOVE
