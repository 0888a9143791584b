"""Write the choices into the IR."""
