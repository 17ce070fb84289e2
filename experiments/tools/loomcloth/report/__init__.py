"""A comparison of runs as one HTML file that needs no network.

verdict.py says which runs were compared and whether they may be, charts.py gathers curves and costs at equal
accuracy, replay.py the motion side by side, page.py writes the file.
"""
