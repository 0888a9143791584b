"""Commands about the installation: what works, what is kept, what comes with it, what there is."""
