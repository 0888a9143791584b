// Down the columns of a band of ${GROUP} rows of pairs of tiles: what runs at once shares tiles.
%number = arith.divui %place, %band : index
%top_of_band = arith.muli %number, %deepest : index
%below = arith.subi %tile_rows, %top_of_band : index
%deep = arith.minui %below, %deepest : index
%inside = arith.remui %place, %band : index
%down = arith.remui %inside, %deep : index
%pair = arith.addi %top_of_band, %down : index
%upper = arith.muli %pair, %seats : index
%m = arith.addi %upper, %seat : index
%n = arith.divui %inside, %deep : index
