"""No test depends on how fast the machine is, or on what else it does."""

PATIENCE = 300.0  # seconds: only what hangs takes as long
