"""The numbers that the sources print, and how ours stand beside them."""
