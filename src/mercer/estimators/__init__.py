"""scikit-learn estimators. All of them end as f(x) = sum_i beta_i k(x_i, x) + b, with a certificate."""

from .certificates import WorstCertificate
from .certify import certify
from .contributions import Contributions
from .definite import IndefiniteKernelWarning
from .one_class import OneClassSVM
from .svc import SVC
from .svr import SVR

__all__ = ["SVC", "SVR", "Contributions", "IndefiniteKernelWarning", "OneClassSVM", "WorstCertificate", "certify"]
