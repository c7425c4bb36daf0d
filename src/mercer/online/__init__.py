"""Learning from one point after another: perceptrons, primal and dual, and what their mistakes prove."""

from .dual import Dual, Held
from .margin import INSEPARABLE, MarginCertificate, margin_certificate
from .passes import Learner, Outcome, Update, one_pass, train
from .primal import Primal

__all__ = [
    "INSEPARABLE",
    "Dual",
    "Held",
    "Learner",
    "MarginCertificate",
    "Outcome",
    "Primal",
    "Update",
    "margin_certificate",
    "one_pass",
    "train",
]


def __dir__() -> list[str]:
    return __all__
