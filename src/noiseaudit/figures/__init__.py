"""The figures: `style`, and a module per study with one function per figure."""
