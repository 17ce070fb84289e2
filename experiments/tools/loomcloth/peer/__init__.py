"""`./loom peer`: public simulators on scenes of loom, measured by loom.  A folder here is one of them."""
