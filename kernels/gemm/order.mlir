// Down the columns of a band of ${GROUP} rows of tiles: what runs at once shares tiles of A and B.
%number = arith.divui %place, %band : index
%top_of_band = arith.muli %number, %deepest : index
%below = arith.subi %tile_rows, %top_of_band : index
%deep = arith.minui %below, %deepest : index
%inside = arith.remui %place, %band : index
%down = arith.remui %inside, %deep : index
%m = arith.addi %top_of_band, %down : index
%across = arith.divui %inside, %deep : index
%left = arith.muli %across, %seats : index
%n = arith.addi %left, %seat : index
