"""Blender as a peer; README.md beside this file has the map of parameters."""
