"""How `tileas-assign-load-store-layouts` works: groups, candidates, costs, and what is written."""
