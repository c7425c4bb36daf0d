"""Files that are written whole, of plain values and arrays; checkpoints. Estimators in files are the affair of `io`."""
