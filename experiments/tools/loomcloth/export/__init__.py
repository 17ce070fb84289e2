"""Logs in the formats that other programs exchange: VTK-HDF, glTF and USD."""
