"""A fit that can go on in another process: the coefficients of its problems, in a file, every few rounds."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..archives.checkpoint import identity_of, read, write
from ..types import Array
from .tasks import Training

KIND = "fit"
EVERY = 20  # rounds


class Checkpoint:
    """The coefficients of each problem so far, and the file that they are in; `data` tells the points from others."""

    def __init__(self, path: Any, training: Training, data: Any) -> None:
        self.path, self.rounds, self.lock = path, 0, threading.Lock()
        posed = [(task.y, task.C, task.bias, task.mass, repr(task.loss)) for task in training.tasks]
        self.identity = identity_of(repr(training.kernel), training.rows, posed, data)
        found = read(path, KIND, self.identity)
        self.betas: list[Array] = [np.zeros(task.y.size) for task in training.tasks] if found is None else list(found)

    def keep(self, number: int, beta: Array) -> None:
        """Take the coefficients of a problem after a round."""
        with self.lock:
            self.betas[number], self.rounds = beta, self.rounds + 1
            if self.rounds % EVERY == 0:
                self.write(self.betas)

    def write(self, betas: Sequence[Array]) -> None:
        """Write them all."""
        write(self.path, KIND, self.identity, list(betas))
