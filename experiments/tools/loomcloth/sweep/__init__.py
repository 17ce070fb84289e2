"""Many runs from one file: a grid of settings and overlays, on local cores or Slurm.

spec.py reads the file, plan.py asks `loom check` of every combination, workflow.py writes a Snakemake
workflow and runs it, driver.py is the program of its jobs, status.py tells how far each run is.
"""
