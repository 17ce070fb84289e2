"""`./loom fabric`: a material from a textile laboratory's measurements of a fabric."""
