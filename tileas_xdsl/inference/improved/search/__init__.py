"""Choice among candidates: propagation through connected components, search by cost."""
