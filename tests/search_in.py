"""A plugin for pytest: scikit-learn's own tests, with mercer.Search in place of GridSearchCV (see peer.py)."""

from __future__ import annotations

import numpy as np
import sklearn.model_selection

from mercer import Search


class GridSearchCV(Search):
    """Search, with the names that scikit-learn has for its parameters."""

    def __init__(
        self, estimator, param_grid, *, scoring=None, n_jobs=None, refit=True, cv=None, verbose=0,
        pre_dispatch="2*n_jobs", error_score=np.nan, return_train_score=False,
    ):  # fmt: skip
        super().__init__(estimator, param_grid, prune=False)
        del self.grid
        self.param_grid = param_grid
        self.scoring, self.n_jobs, self.refit, self.cv, self.verbose = scoring, n_jobs, refit, cv, verbose
        self.pre_dispatch, self.error_score, self.return_train_score = pre_dispatch, error_score, return_train_score

    param_grid = None

    @property
    def grid(self):
        return self.param_grid

    @grid.setter
    def grid(self, value):
        self.param_grid = value

    @grid.deleter
    def grid(self):
        pass


sklearn.model_selection.GridSearchCV = GridSearchCV
