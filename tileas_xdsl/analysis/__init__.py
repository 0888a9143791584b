"""What passes find out about tile programs before they change them."""
