"""Rows of `./loom figure validation`: a quantity of theory, the same in runs of loom, and a tolerance."""
