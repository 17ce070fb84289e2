"""A study as one file.

files.py finds the files that its runs read, logs.py packs logs, stage.py makes a copy and plans it there,
crate.py, readme.py and versions.py describe it.
"""
