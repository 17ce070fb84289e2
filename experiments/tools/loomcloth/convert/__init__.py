"""Files of other programs as files that loom reads."""
