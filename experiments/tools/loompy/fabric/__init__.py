"""`./loom fabric`: a material from what a textile laboratory measures of a fabric."""
