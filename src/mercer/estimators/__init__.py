"""scikit-learn estimators, each with a certificate; `judge` certifies those of others."""

from .certificates import WorstCertificate
from .contributions import Contributions
from .definite import IndefiniteKernelWarning
from .kernel_perceptron import KernelPerceptron
from .linear_svc import LinearSVC
from .logistic import KernelLogistic
from .one_class import OneClassSVM
from .perceptron import Perceptron
from .ridge import KernelRidge
from .svc import SVC
from .svr import SVR

__all__ = [
    "SVC",
    "SVR",
    "Contributions",
    "IndefiniteKernelWarning",
    "KernelLogistic",
    "KernelPerceptron",
    "KernelRidge",
    "LinearSVC",
    "OneClassSVM",
    "Perceptron",
    "WorstCertificate",
]
