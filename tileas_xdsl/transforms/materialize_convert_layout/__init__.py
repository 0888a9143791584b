"""Implementation of `tileas-materialize-convert-layout`: plans and their expansion."""
