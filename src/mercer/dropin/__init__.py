"""scikit-learn's own SVC, SVR, OneClassSVM, LinearSVC and KernelRidge, with Mercer's solvers inside.

    from mercer.dropin import SVC            # in place of `from sklearn.svm import SVC`
    python -m mercer.dropin script.py        # or: the script as it is

Parameters, attributes, errors and documentation are scikit-learn's; `certificate_` says in addition how good the answer
is. `patch()` puts these classes where scikit-learn's stand, `unpatch()` takes them back, `with patched():` does both.
What Mercer does not do goes to scikit-learn; the logger "mercer.dropin" says why, at the level INFO.
"""

from .linear import LinearSVC
from .patching import patch, patched, unpatch
from .ridge import KernelRidge
from .support import SVC, SVR, OneClassSVM

__all__ = ["SVC", "SVR", "KernelRidge", "LinearSVC", "OneClassSVM", "patch", "patched", "unpatch"]


def __dir__() -> list[str]:
    return __all__
