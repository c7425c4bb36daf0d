"""The command line: `mercer train data.csv -o model.mercer` and its fellows, one file for each verb."""

from .main import main

__all__ = ["main"]
