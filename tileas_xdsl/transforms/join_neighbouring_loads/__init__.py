"""Parts of `join-neighbouring-loads`: which loads lie beside one another, and bytes of words."""
