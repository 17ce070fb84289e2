"""Pictures and figures from loom's logs.  The logs need nothing of this: h5py reads them."""
