"""A class for each method. Written by python/tools/generate_methods.py from the table of methods: do not edit.

>>> from quorate.methods import DawidSkene
>>> rows = [("t1", "ann", "cat"), ("t1", "bob", "cat"), ("t1", "cem", "dog"), ("t2", "bob", "dog")]
>>> DawidSkene(max_iter=20).fit_predict(rows)
{'t1': 'cat', 't2': 'dog'}
"""

from __future__ import annotations

from typing import Dict, List, Literal, Optional, Type

from . import _quorate
from ._estimator import Estimator, clone

__all__ = [
    "Auto",
    "CNMF",
    "CRIAV",
    "CrowdLayer",
    "Crowdlab",
    "DLMV",
    "DawidSkene",
    "DesSymNMF",
    "DesSymNMFEM",
    "EBCC",
    "EigenRatio",
    "Estimator",
    "FastDS",
    "GLAD",
    "GhoshSVD",
    "IBCC",
    "IWMV",
    "KOS",
    "KOSSVD",
    "MACE",
    "MMSR",
    "MajorityVote",
    "MinimaxEntropy",
    "MultiSPA",
    "OneCoin",
    "PGTAC",
    "PooledDS",
    "RobSymNMF",
    "RobSymNMFEM",
    "RobSymNMFUniform",
    "SpectralDS",
    "SymNMF",
    "SymNMFEM",
    "TaskEffects",
    "TensorADMM",
    "Wawa",
    "ZeroBasedSkill",
    "clone",
    "find_method",
    "list_methods",
]


def list_methods() -> List[str]:
    """Names of all methods, as :func:`quorate.aggregate` takes them.

    >>> import quorate
    >>> quorate.list_methods()[0]
    'auto'
    """
    return [method["name"] for method in _quorate.method_table()]


def find_method(name: str) -> Type[Estimator]:
    """The class of a method, by the method's name or an alias.

    >>> import quorate
    >>> quorate.find_method("mv")
    <class 'quorate.methods.MajorityVote'>
    """
    return _CLASSES[_quorate.find_method(name)]


class Auto(Estimator):
    """task-effects averaged with votes, fast-ds and dawid-skene: safe to leave on.

    Half of the answer is task-effects, in which tasks can mislead many workers at once; a quarter is the
    votes, the rest fast-ds and smoothed dawid-skene. No model is right for every crowd and the data cannot
    say which one is; this average is near the best of them almost everywhere and far from the worst. The
    confidence allows for tasks that mislead; with gold it learns how many there are.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: This project; the members as cited there

    Args:
        max_iter: largest number of rounds of each member; a whole number from 1 to 1000000.
        misled: share of tasks that mislead workers beyond what the members allow for, for the confidence; 0:
            take the average as it is; a number from 0 to 0.9.
        copies: what the labels of workers who copy each other count for: one label of each group on a task,
            or all of them; one of once, all.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "auto"
    _parameters = ("max_iter", "misled", "copies")

    def __init__(
        self,
        *,
        max_iter: int = 200,
        misled: float = 0.3,
        copies: Literal["once", "all"] = "once",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.max_iter = max_iter
        self.misled = misled
        self.copies = copies
        self.random_state = random_state
        self.n_jobs = n_jobs


class RobSymNMFEM(Estimator):
    """Robust co-occurrence imputation and SymNMF, then EM.

    rob-symnmf gives EM a start that does not depend on majority vote being right everywhere; EM then uses all
    labels of a task together. The best all-rounder of the family.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: S. Ibrahim, X. Fu: Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric
    Nonnegative Matrix Factorization. ICML 2021

    Args:
        init: start of the imputation: confusion matrices counted against majority vote, or random numbers
            (the paper); one of votes, random.
        shrinkage: pseudo-labels that draw each column of a confusion matrix halfway to the crowd's and the
            uniform one; a number from 0 to 1000000000.
        evidence: exponent c of the base weights S_mj^c of a pair that shares S_mj tasks (0: all pairs alike,
            the paper); a number from 0 to 2.
        xi: smoothing of the robust norm; a number from 0.0000000000000001 to 1.
        solver: how a worker's K x K problem is solved: exactly, or by the paper's projected gradient (15
            steps); one of exact, gradient.
        sweeps: largest number of imputation sweeps; a whole number from 1 to 1000000.
        sweep_tol: imputation stops when a sweep lowers the objective by less than this share; a number from 0
            to 1.
        form: pairs: the robust form; matrix-free: linear in labels, no pairs stored; auto: by size; one of
            auto, pairs, matrix-free.
        alpha: threshold of the shifted ReLU; 0 is the older algorithm; a number from 0 to 1.
        psi: if above 0: threshold psi^(t+1) in step t instead of a constant; a number from 0 to 0.999999.
        steps: largest number of factorisation steps; a whole number from 1 to 1000000.
        rows: weight of a worker in the factorisation: its number of labels, or the same for all; one of
            labels, equal.
        max_iter: largest number of EM rounds; a whole number from 1 to 1000000.
        tol: EM stops when the mean change of a posterior falls below this; a number from 0 to 1.
        smoothing: pseudo-count added to every cell of every confusion matrix; a number from 0 to 1000000000.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "rob-symnmf-em"
    _parameters = ("init", "shrinkage", "evidence", "xi", "solver", "sweeps", "sweep_tol", "form", "alpha", "psi", "steps", "rows", "max_iter", "tol", "smoothing")

    def __init__(
        self,
        *,
        init: Literal["votes", "random"] = "votes",
        shrinkage: float = 1.0,
        evidence: float = 1.0,
        xi: float = 1e-06,
        solver: Literal["exact", "gradient"] = "exact",
        sweeps: int = 200,
        sweep_tol: float = 1e-06,
        form: Literal["auto", "pairs", "matrix-free"] = "auto",
        alpha: float = 1e-06,
        psi: float = 0.0,
        steps: int = 500,
        rows: Literal["labels", "equal"] = "equal",
        max_iter: int = 1000,
        tol: float = 1e-06,
        smoothing: float = 0.1,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.init = init
        self.shrinkage = shrinkage
        self.evidence = evidence
        self.xi = xi
        self.solver = solver
        self.sweeps = sweeps
        self.sweep_tol = sweep_tol
        self.form = form
        self.alpha = alpha
        self.psi = psi
        self.steps = steps
        self.rows = rows
        self.max_iter = max_iter
        self.tol = tol
        self.smoothing = smoothing
        self.random_state = random_state
        self.n_jobs = n_jobs


class RobSymNMF(Estimator):
    """Robust co-occurrence imputation and SymNMF.

    Completes the pairwise co-occurrences of workers' answers by a low-rank factor fitted to the observed
    pairs, with pairs that do not fit weighted down, and rotates the factor into confusion matrices.
    Identifies the model without the local optima of EM where pairs share enough tasks.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: S. Ibrahim, X. Fu: Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric
    Nonnegative Matrix Factorization. ICML 2021

    Args:
        init: start of the imputation: confusion matrices counted against majority vote, or random numbers
            (the paper); one of votes, random.
        shrinkage: pseudo-labels that draw each column of a confusion matrix halfway to the crowd's and the
            uniform one; a number from 0 to 1000000000.
        evidence: exponent c of the base weights S_mj^c of a pair that shares S_mj tasks (0: all pairs alike,
            the paper); a number from 0 to 2.
        xi: smoothing of the robust norm; a number from 0.0000000000000001 to 1.
        solver: how a worker's K x K problem is solved: exactly, or by the paper's projected gradient (15
            steps); one of exact, gradient.
        sweeps: largest number of imputation sweeps; a whole number from 1 to 1000000.
        sweep_tol: imputation stops when a sweep lowers the objective by less than this share; a number from 0
            to 1.
        form: pairs: the robust form; matrix-free: linear in labels, no pairs stored; auto: by size; one of
            auto, pairs, matrix-free.
        alpha: threshold of the shifted ReLU; 0 is the older algorithm; a number from 0 to 1.
        psi: if above 0: threshold psi^(t+1) in step t instead of a constant; a number from 0 to 0.999999.
        steps: largest number of factorisation steps; a whole number from 1 to 1000000.
        rows: weight of a worker in the factorisation: its number of labels, or the same for all; one of
            labels, equal.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "rob-symnmf"
    _parameters = ("init", "shrinkage", "evidence", "xi", "solver", "sweeps", "sweep_tol", "form", "alpha", "psi", "steps", "rows")

    def __init__(
        self,
        *,
        init: Literal["votes", "random"] = "votes",
        shrinkage: float = 1.0,
        evidence: float = 1.0,
        xi: float = 1e-06,
        solver: Literal["exact", "gradient"] = "exact",
        sweeps: int = 200,
        sweep_tol: float = 1e-06,
        form: Literal["auto", "pairs", "matrix-free"] = "auto",
        alpha: float = 1e-06,
        psi: float = 0.0,
        steps: int = 500,
        rows: Literal["labels", "equal"] = "equal",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.init = init
        self.shrinkage = shrinkage
        self.evidence = evidence
        self.xi = xi
        self.solver = solver
        self.sweeps = sweeps
        self.sweep_tol = sweep_tol
        self.form = form
        self.alpha = alpha
        self.psi = psi
        self.steps = steps
        self.rows = rows
        self.random_state = random_state
        self.n_jobs = n_jobs


class RobSymNMFUniform(Estimator):
    """rob-symnmf with all observed pairs weighted alike.

    The paper's ablation "w = 1": least squares on the observed co-occurrences with neither reweighting by
    residual nor base weights by shared tasks. Shows what the weights are worth.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: S. Ibrahim, X. Fu: Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric
    Nonnegative Matrix Factorization. ICML 2021

    Args:
        init: start of the imputation: confusion matrices counted against majority vote, or random numbers
            (the paper); one of votes, random.
        shrinkage: pseudo-labels that draw each column of a confusion matrix halfway to the crowd's and the
            uniform one; a number from 0 to 1000000000.
        evidence: exponent c of the base weights S_mj^c of a pair that shares S_mj tasks (0: all pairs alike,
            the paper); a number from 0 to 2.
        solver: how a worker's K x K problem is solved: exactly, or by the paper's projected gradient (15
            steps); one of exact, gradient.
        sweeps: largest number of imputation sweeps; a whole number from 1 to 1000000.
        sweep_tol: imputation stops when a sweep lowers the objective by less than this share; a number from 0
            to 1.
        form: pairs: the robust form; matrix-free: linear in labels, no pairs stored; auto: by size; one of
            auto, pairs, matrix-free.
        alpha: threshold of the shifted ReLU; 0 is the older algorithm; a number from 0 to 1.
        psi: if above 0: threshold psi^(t+1) in step t instead of a constant; a number from 0 to 0.999999.
        steps: largest number of factorisation steps; a whole number from 1 to 1000000.
        rows: weight of a worker in the factorisation: its number of labels, or the same for all; one of
            labels, equal.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "rob-symnmf-uniform"
    _parameters = ("init", "shrinkage", "evidence", "solver", "sweeps", "sweep_tol", "form", "alpha", "psi", "steps", "rows")

    def __init__(
        self,
        *,
        init: Literal["votes", "random"] = "votes",
        shrinkage: float = 1.0,
        evidence: float = 0.0,
        solver: Literal["exact", "gradient"] = "exact",
        sweeps: int = 200,
        sweep_tol: float = 1e-06,
        form: Literal["auto", "pairs", "matrix-free"] = "auto",
        alpha: float = 1e-06,
        psi: float = 0.0,
        steps: int = 500,
        rows: Literal["labels", "equal"] = "equal",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.init = init
        self.shrinkage = shrinkage
        self.evidence = evidence
        self.solver = solver
        self.sweeps = sweeps
        self.sweep_tol = sweep_tol
        self.form = form
        self.alpha = alpha
        self.psi = psi
        self.steps = steps
        self.rows = rows
        self.random_state = random_state
        self.n_jobs = n_jobs


class DesSymNMFEM(Estimator):
    """Designated co-occurrence imputation and SymNMF, then EM.

    des-symnmf as the start of EM, which then uses all labels of a task together: as good as rob-symnmf-em
    where the missing blocks can be reached.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: S. Ibrahim, X. Fu: Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric
    Nonnegative Matrix Factorization. ICML 2021

    Args:
        shrinkage: pseudo-labels that draw each column of a confusion matrix halfway to the crowd's and the
            uniform one; a number from 0 to 1000000000.
        designated: two worker ids, separated by a comma, that stand between all pairs; empty: pairs of
            workers for each block; text.
        pair: which pairs stand between the workers of a missing block: the best, averaged, or one drawn at
            random (the paper); one of average, random.
        alpha: threshold of the shifted ReLU; 0 is the older algorithm; a number from 0 to 1.
        psi: if above 0: threshold psi^(t+1) in step t instead of a constant; a number from 0 to 0.999999.
        steps: largest number of factorisation steps; a whole number from 1 to 1000000.
        rows: weight of a worker in the factorisation: its number of labels, or the same for all; one of
            labels, equal.
        max_iter: largest number of EM rounds; a whole number from 1 to 1000000.
        tol: EM stops when the mean change of a posterior falls below this; a number from 0 to 1.
        smoothing: pseudo-count added to every cell of every confusion matrix; a number from 0 to 1000000000.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "des-symnmf-em"
    _parameters = ("shrinkage", "designated", "pair", "alpha", "psi", "steps", "rows", "max_iter", "tol", "smoothing")

    def __init__(
        self,
        *,
        shrinkage: float = 1.0,
        designated: str = "",
        pair: Literal["average", "random"] = "average",
        alpha: float = 1e-06,
        psi: float = 0.0,
        steps: int = 500,
        rows: Literal["labels", "equal"] = "labels",
        max_iter: int = 1000,
        tol: float = 1e-06,
        smoothing: float = 0.1,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.designated = designated
        self.pair = pair
        self.alpha = alpha
        self.psi = psi
        self.steps = steps
        self.rows = rows
        self.max_iter = max_iter
        self.tol = tol
        self.smoothing = smoothing
        self.random_state = random_state
        self.n_jobs = n_jobs


class DesSymNMF(Estimator):
    """Designated co-occurrence imputation and SymNMF.

    Estimates each missing co-occurrence block from three observed ones through workers in between, the best
    ones or two designated workers of your choice, then takes the leading eigenvectors of the completed matrix
    and rotates them into confusion matrices. Forms an M K x M K matrix: for thousands of workers, not for
    millions.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: S. Ibrahim, X. Fu: Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric
    Nonnegative Matrix Factorization. ICML 2021

    Args:
        shrinkage: pseudo-labels that draw each column of a confusion matrix halfway to the crowd's and the
            uniform one; a number from 0 to 1000000000.
        designated: two worker ids, separated by a comma, that stand between all pairs; empty: pairs of
            workers for each block; text.
        pair: which pairs stand between the workers of a missing block: the best, averaged, or one drawn at
            random (the paper); one of average, random.
        alpha: threshold of the shifted ReLU; 0 is the older algorithm; a number from 0 to 1.
        psi: if above 0: threshold psi^(t+1) in step t instead of a constant; a number from 0 to 0.999999.
        steps: largest number of factorisation steps; a whole number from 1 to 1000000.
        rows: weight of a worker in the factorisation: its number of labels, or the same for all; one of
            labels, equal.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "des-symnmf"
    _parameters = ("shrinkage", "designated", "pair", "alpha", "psi", "steps", "rows")

    def __init__(
        self,
        *,
        shrinkage: float = 1.0,
        designated: str = "",
        pair: Literal["average", "random"] = "average",
        alpha: float = 1e-06,
        psi: float = 0.0,
        steps: int = 500,
        rows: Literal["labels", "equal"] = "labels",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.designated = designated
        self.pair = pair
        self.alpha = alpha
        self.psi = psi
        self.steps = steps
        self.rows = rows
        self.random_state = random_state
        self.n_jobs = n_jobs


class SymNMFEM(Estimator):
    """SymNMF of the observed co-occurrences alone, then EM.

    symnmf (missing blocks are zero) as the start of EM: the baseline that shows what imputation is worth
    after EM.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: S. Ibrahim, X. Fu: Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric
    Nonnegative Matrix Factorization. ICML 2021

    Args:
        shrinkage: pseudo-labels that draw each column of a confusion matrix halfway to the crowd's and the
            uniform one; a number from 0 to 1000000000.
        alpha: threshold of the shifted ReLU; 0 is the older algorithm; a number from 0 to 1.
        psi: if above 0: threshold psi^(t+1) in step t instead of a constant; a number from 0 to 0.999999.
        steps: largest number of factorisation steps; a whole number from 1 to 1000000.
        rows: weight of a worker in the factorisation: its number of labels, or the same for all; one of
            labels, equal.
        max_iter: largest number of EM rounds; a whole number from 1 to 1000000.
        tol: EM stops when the mean change of a posterior falls below this; a number from 0 to 1.
        smoothing: pseudo-count added to every cell of every confusion matrix; a number from 0 to 1000000000.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "symnmf-em"
    _parameters = ("shrinkage", "alpha", "psi", "steps", "rows", "max_iter", "tol", "smoothing")

    def __init__(
        self,
        *,
        shrinkage: float = 1.0,
        alpha: float = 1e-06,
        psi: float = 0.0,
        steps: int = 500,
        rows: Literal["labels", "equal"] = "labels",
        max_iter: int = 1000,
        tol: float = 1e-06,
        smoothing: float = 0.1,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.alpha = alpha
        self.psi = psi
        self.steps = steps
        self.rows = rows
        self.max_iter = max_iter
        self.tol = tol
        self.smoothing = smoothing
        self.random_state = random_state
        self.n_jobs = n_jobs


class SymNMF(Estimator):
    """SymNMF of the observed co-occurrences, nothing imputed.

    Missing co-occurrence blocks, and the diagonal, are taken as zero: the paper's baseline that shows what
    imputation is worth. Biased wherever many pairs are missing.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: S. Ibrahim, X. Fu: Crowdsourcing via Annotator Co-occurrence Imputation and Provable Symmetric
    Nonnegative Matrix Factorization. ICML 2021

    Args:
        shrinkage: pseudo-labels that draw each column of a confusion matrix halfway to the crowd's and the
            uniform one; a number from 0 to 1000000000.
        alpha: threshold of the shifted ReLU; 0 is the older algorithm; a number from 0 to 1.
        psi: if above 0: threshold psi^(t+1) in step t instead of a constant; a number from 0 to 0.999999.
        steps: largest number of factorisation steps; a whole number from 1 to 1000000.
        rows: weight of a worker in the factorisation: its number of labels, or the same for all; one of
            labels, equal.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "symnmf"
    _parameters = ("shrinkage", "alpha", "psi", "steps", "rows")

    def __init__(
        self,
        *,
        shrinkage: float = 1.0,
        alpha: float = 1e-06,
        psi: float = 0.0,
        steps: int = 500,
        rows: Literal["labels", "equal"] = "labels",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.alpha = alpha
        self.psi = psi
        self.steps = steps
        self.rows = rows
        self.random_state = random_state
        self.n_jobs = n_jobs


class MajorityVote(Estimator):
    """The class with most labels wins.

    Every label is one vote. Treats all workers alike, so it is a fair baseline where workers are equally good
    and err independently, and a poor one where some are spammers or share a bias.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: Folklore

    Args:
        ties: who wins a tie: the lowest class, the class that is more common, or one drawn with the seed; one
            of lowest, prior, random.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "majority-vote"
    _parameters = ("ties",)

    def __init__(
        self,
        *,
        ties: Literal["lowest", "prior", "random"] = "lowest",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.ties = ties
        self.random_state = random_state
        self.n_jobs = n_jobs


class DawidSkene(Estimator):
    """Confusion matrices by EM, started from majority vote.

    Each worker has a confusion matrix, each class a prior; both are fitted by maximum likelihood, starting
    from majority vote. Strong where workers gave many labels; follows its own mistakes where they gave few,
    and can be very sure and wrong.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: A. P. Dawid, A. M. Skene: Maximum likelihood estimation of observer error-rates using the EM
    algorithm. Applied Statistics 28 (1979)

    Args:
        max_iter: largest number of EM rounds; a whole number from 1 to 1000000.
        tol: EM stops when the mean change of a posterior falls below this; a number from 0 to 1.
        smoothing: pseudo-count added to every cell of every confusion matrix; a number from 0 to 1000000000.
        prior: whether the E-step uses the estimated prior or a flat one (as in the field's tables); one of
            estimated, flat.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "dawid-skene"
    _parameters = ("max_iter", "tol", "smoothing", "prior")

    def __init__(
        self,
        *,
        max_iter: int = 1000,
        tol: float = 1e-06,
        smoothing: float = 0.0,
        prior: Literal["estimated", "flat"] = "estimated",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.smoothing = smoothing
        self.prior = prior
        self.random_state = random_state
        self.n_jobs = n_jobs


class TaskEffects(Estimator):
    """Workers with confusion matrices, and tasks that mislead many of them at once.

    Every worker has an ability, favourite labels and confusions, drawn to those of the crowd; every task can
    pull all its workers towards an answer. How large these effects are is learnt from the labels. The best
    single method where some tasks mislead many workers at once, and as good as the others elsewhere. Cannot
    see workers who copy from each other.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: This project

    Args:
        max_iter: largest number of rounds; a whole number from 1 to 1000000.
        tol: stops when no posterior changes by more than this; a number from 0 to 1.
        largest_effect: largest size (standard deviation) of the effects of tasks; learnt below that; a number
            from 0.02 to 10.
        anchor: the class prior is drawn to the shares of the votes, which count this many times as much as
            the tasks; a number from 0 to 1000000.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "task-effects"
    _parameters = ("max_iter", "tol", "largest_effect", "anchor")

    def __init__(
        self,
        *,
        max_iter: int = 40,
        tol: float = 0.001,
        largest_effect: float = 0.7,
        anchor: float = 5.0,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.largest_effect = largest_effect
        self.anchor = anchor
        self.random_state = random_state
        self.n_jobs = n_jobs


class PooledDS(Estimator):
    """Dawid-Skene with every worker drawn to the crowd's confusion matrix.

    Each worker's confusion matrix is drawn to that of the whole crowd, as strongly as the labels say that
    workers are alike: a worker with few labels is taken for the average one. Steady where workers gave few
    labels, at little cost where they gave many.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: H.-C. Kim, Z. Ghahramani: Bayesian classifier combination. AISTATS 2012; T. P. Minka:
    Estimating a Dirichlet distribution. 2000

    Args:
        max_iter: largest number of EM rounds; a whole number from 1 to 1000000.
        tol: EM stops when the mean change of a posterior falls below this; a number from 0 to 1.
        strength: labels a column with which a worker is drawn to the crowd; 0: learnt from the data; a number
            from 0 to 1000000.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "pooled-ds"
    _parameters = ("max_iter", "tol", "strength")

    def __init__(
        self,
        *,
        max_iter: int = 1000,
        tol: float = 1e-06,
        strength: float = 4.0,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.strength = strength
        self.random_state = random_state
        self.n_jobs = n_jobs


class OneCoin(Estimator):
    """One accuracy for each worker by EM, started from majority vote.

    Each worker is right with one probability, whatever the truth, and wrong answers are spread evenly. One
    number a worker can be learned from few labels. Fails where workers lean towards a class: then full
    confusion matrices (dawid-skene) are needed.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: A. P. Dawid, A. M. Skene: Maximum likelihood estimation of observer error-rates using the EM
    algorithm. Applied Statistics 28 (1979), homogeneous case

    Args:
        max_iter: largest number of EM rounds; a whole number from 1 to 1000000.
        tol: EM stops when the mean change of a posterior falls below this; a number from 0 to 1.
        prior: whether the E-step uses the estimated prior or a flat one; one of estimated, flat.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "one-coin"
    _parameters = ("max_iter", "tol", "prior")

    def __init__(
        self,
        *,
        max_iter: int = 1000,
        tol: float = 1e-06,
        prior: Literal["estimated", "flat"] = "estimated",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.prior = prior
        self.random_state = random_state
        self.n_jobs = n_jobs


class FastDS(Estimator):
    """Dawid-Skene by hard EM: each task counts for its best class only.

    Dawid-Skene in which each round gives every task wholly to its most probable class. A handful of rounds
    suffices, and the labels are close to those of the full EM. It stops at the first labelling that explains
    itself, so it depends on a good majority vote, and it is surer than it should be.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: V. B. Sinha, S. Rao, V. N. Balasubramanian: Fast Dawid-Skene: a fast vote aggregation scheme
    for sentiment classification. arXiv:1803.02781 (2018)

    Args:
        max_iter: largest number of rounds; a whole number from 1 to 1000000.
        smoothing: pseudo-count added to every cell of every confusion matrix; a number from 0 to 1000000000.
        start: what the first round counts: the shares of the votes, or the winner of each vote; one of
            shares, majority.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "fast-ds"
    _parameters = ("max_iter", "smoothing", "start")

    def __init__(
        self,
        *,
        max_iter: int = 100,
        smoothing: float = 0.0,
        start: Literal["shares", "majority"] = "shares",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.max_iter = max_iter
        self.smoothing = smoothing
        self.start = start
        self.random_state = random_state
        self.n_jobs = n_jobs


class Crowdlab(Estimator):
    """Votes and a classifier's predictions, weighted by how far each can be trusted.

    Averages the class probabilities of a trained classifier with the workers' labels, each weighted by its
    agreement with the others. Made for tables with one to three labels a task beside a good classifier. Needs
    out-of-sample predictions for the tasks.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``. Needs the argument ``class_probabilities`` of
    ``fit``.

    Reference: H. W. Goh, U. Tkachenko, J. Mueller: CROWDLAB: supervised learning to infer consensus labels
    and quality scores for data with multiple annotators. arXiv:2210.06812 (2022)

    Args:
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "crowdlab"
    _parameters = ()

    def __init__(
        self,
        *,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.random_state = random_state
        self.n_jobs = n_jobs


class CrowdLayer(Estimator):
    """A network on the features of the tasks, with a map for each worker, trained on the labels.

    A network with one hidden layer learns the class probabilities of a task from its features, and for each
    worker a map from these to the worker's answers, both from the labels at once. Useful where tasks have few
    labels and good features (of a trained image or text model). The result varies from seed to seed.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``. Needs the argument ``features`` of ``fit``.

    Reference: F. Rodrigues, F. Pereira: Deep learning from crowds. AAAI (2018)

    Args:
        epochs: times that the network sees every task; a whole number from 1 to 100000.
        batch: tasks in each step of the training; a whole number from 1 to 100000.
        learning_rate: length of the steps of Adam; a number from 0 to 1.
        dropout: share of hidden units left out at random in each step; a number from 0 to 0.95.
        hidden: units of the hidden layer; a whole number from 1 to 100000.
        scaling: features as they are, or each brought to mean 0 and standard deviation 1; one of none,
            standard.
        map: what a worker's answers may depend on: a matrix, a factor for each class, or a factor and a bias;
            one of matrix, scale, scale-bias.
        start: factor of the workers' maps at the start; 1 as published, more makes runs alike; a number from
            0 to 100.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "crowd-layer"
    _parameters = ("epochs", "batch", "learning_rate", "dropout", "hidden", "scaling", "map", "start")

    def __init__(
        self,
        *,
        epochs: int = 50,
        batch: int = 64,
        learning_rate: float = 0.001,
        dropout: float = 0.5,
        hidden: int = 128,
        scaling: Literal["none", "standard"] = "none",
        map: Literal["matrix", "scale", "scale-bias"] = "matrix",
        start: float = 2.0,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.epochs = epochs
        self.batch = batch
        self.learning_rate = learning_rate
        self.dropout = dropout
        self.hidden = hidden
        self.scaling = scaling
        self.map = map
        self.start = start
        self.random_state = random_state
        self.n_jobs = n_jobs


class DLMV(Estimator):
    """A network trained on the majority votes.

    A network with one hidden layer learns the majority votes from the features of the tasks; its first choice
    is the label. The plain way to learn from a crowd and the one to beat: with many epochs on few tasks it
    learns the wrong votes by heart, too.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``. Needs the argument ``features`` of ``fit``.

    Reference: F. Rodrigues, F. Pereira: Deep learning from crowds. AAAI (2018)

    Args:
        epochs: times that the network sees every task; a whole number from 1 to 100000.
        batch: tasks in each step of the training; a whole number from 1 to 100000.
        learning_rate: length of the steps of Adam; a number from 0 to 1.
        dropout: share of hidden units left out at random in each step; a number from 0 to 0.95.
        hidden: units of the hidden layer; a whole number from 1 to 100000.
        scaling: features as they are, or each brought to mean 0 and standard deviation 1; one of none,
            standard.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "dl-mv"
    _parameters = ("epochs", "batch", "learning_rate", "dropout", "hidden", "scaling")

    def __init__(
        self,
        *,
        epochs: int = 50,
        batch: int = 64,
        learning_rate: float = 0.001,
        dropout: float = 0.5,
        hidden: int = 128,
        scaling: Literal["none", "standard"] = "none",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.epochs = epochs
        self.batch = batch
        self.learning_rate = learning_rate
        self.dropout = dropout
        self.hidden = hidden
        self.scaling = scaling
        self.random_state = random_state
        self.n_jobs = n_jobs


class IBCC(Estimator):
    """Dawid-Skene with Dirichlet priors, by variational inference.

    Confusion matrices and class prior have Dirichlet priors that expect workers to be better than chance; all
    are inferred by mean field from majority vote. Calmer than dawid-skene where workers gave few labels. With
    many classes and few labels the prior decides, which can cost accuracy.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: H.-C. Kim, Z. Ghahramani: Bayesian classifier combination. AISTATS 2012

    Args:
        max_iter: largest number of rounds; a whole number from 1 to 1000000.
        tol: stops when no posterior changes by more than this; a number from 0 to 1.
        right: pseudo-count of right answers in every confusion matrix, for each class; a number from 0.001 to
            1000000000.
        wrong: pseudo-count of each wrong answer in every confusion matrix, for each class; a number from
            0.001 to 1000000000.
        class_count: pseudo-count of every class; a number from 0.001 to 1000000000.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "ibcc"
    _parameters = ("max_iter", "tol", "right", "wrong", "class_count")

    def __init__(
        self,
        *,
        max_iter: int = 500,
        tol: float = 0.001,
        right: float = 4.0,
        wrong: float = 1.0,
        class_count: float = 1.0,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.right = right
        self.wrong = wrong
        self.class_count = class_count
        self.random_state = random_state
        self.n_jobs = n_jobs


class EBCC(Estimator):
    """Bayesian confusion matrices for subtypes of each class: workers may err together.

    Each class is a mixture of subtypes (easy and hard ones, say), and each worker has a confusion matrix for
    each of them: this captures workers that make the same mistakes on the same tasks. Inferred by mean field
    from several random starts. Needs enough labels a task to tell subtypes apart; slower than ibcc by the
    number of subtypes and restarts.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: Y. Li, B. I. P. Rubinstein, T. Cohn: Exploiting worker correlation for label aggregation in
    crowdsourcing. ICML 2019

    Args:
        restarts: number of random starts, of which the one with the largest evidence bound is kept; a whole
            number from 1 to 10000.
        subtypes: largest number of subtypes of a class (1: ibcc); a whole number from 1 to 1000.
        max_iter: largest number of rounds of a start; a whole number from 1 to 1000000.
        tol: stops when no posterior changes by more than this; a number from 0 to 1.
        right: pseudo-count of right answers in every confusion matrix, for each class; a number from 0.001 to
            1000000000.
        wrong: pseudo-count of each wrong answer in every confusion matrix, for each class; a number from
            0.001 to 1000000000.
        subtype_count: pseudo-count of a class that its subtypes share: small values leave subtypes empty; a
            number from 0.001 to 1000000000.
        class_counts: pseudo-counts of the classes: their votes, or one each; one of votes, one.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "ebcc"
    _parameters = ("restarts", "subtypes", "max_iter", "tol", "right", "wrong", "subtype_count", "class_counts")

    def __init__(
        self,
        *,
        restarts: int = 5,
        subtypes: int = 10,
        max_iter: int = 500,
        tol: float = 0.001,
        right: float = 4.0,
        wrong: float = 1.0,
        subtype_count: float = 0.1,
        class_counts: Literal["votes", "one"] = "votes",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.restarts = restarts
        self.subtypes = subtypes
        self.max_iter = max_iter
        self.tol = tol
        self.right = right
        self.wrong = wrong
        self.subtype_count = subtype_count
        self.class_counts = class_counts
        self.random_state = random_state
        self.n_jobs = n_jobs


class GLAD(Estimator):
    """Abilities of workers and easiness of tasks, by EM.

    Every worker has an ability and every task an easiness; the chance of a right answer grows with their
    product. Adversaries get a negative ability and count against themselves. Useful where tasks differ much
    in difficulty; fails where workers lean towards a class.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: J. Whitehill, P. Ruvolo, T. Wu, J. Bergsma, J. Movellan: Whose vote should count more: optimal
    integration of labels from labelers of unknown expertise. NIPS 2009

    Args:
        max_iter: largest number of EM rounds; a whole number from 1 to 1000000.
        tol: stops when the objective changes by less than this share of its value; a number from 0 to 1.
        m_steps: turns of abilities and easiness in each M-step; a whole number from 1 to 1000000.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "glad"
    _parameters = ("max_iter", "tol", "m_steps")

    def __init__(
        self,
        *,
        max_iter: int = 100,
        tol: float = 1e-05,
        m_steps: int = 10,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.m_steps = m_steps
        self.random_state = random_state
        self.n_jobs = n_jobs


class MACE(Estimator):
    """Each worker knows the truth or guesses from its own distribution.

    Every answer is either known to be true or a guess from the worker's favourite answers; the share of known
    answers is the worker's competence. Finds spammers well, also those who always answer the same. Cannot
    express that a worker confuses two particular classes.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: D. Hovy, T. Berg-Kirkpatrick, A. Vaswani, E. Hovy: Learning whom to trust with MACE. NAACL 2013

    Args:
        restarts: number of starts, of which the one with the largest likelihood is kept; a whole number from
            1 to 10000.
        max_iter: largest number of rounds of each start; a whole number from 1 to 1000000.
        tol: a start stops when a round changes the likelihood by less than this share; a number from 0 to 1.
        update: how parameters follow from counts: variational, with priors, or plain em; one of variational,
            em.
        smoothing: plain em: pseudo-count of each worker, shared by the classes; a number from 0 to
            1000000000.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "mace"
    _parameters = ("restarts", "max_iter", "tol", "update", "smoothing")

    def __init__(
        self,
        *,
        restarts: int = 10,
        max_iter: int = 50,
        tol: float = 1e-07,
        update: Literal["variational", "em"] = "variational",
        smoothing: float = 0.01,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.restarts = restarts
        self.max_iter = max_iter
        self.tol = tol
        self.update = update
        self.smoothing = smoothing
        self.random_state = random_state
        self.n_jobs = n_jobs


class Wawa(Estimator):
    """Votes weighted by each worker's agreement with the majority.

    A majority vote, then a second one in which each worker counts by the share of its labels that agreed with
    the first. Cheap and hard to break; corrects little, and nothing where the majority is wrong.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: Folklore (worker agreement with aggregate)

    Args:
        ties: whose skill grows by a tied vote: the tied classes share it, or the lowest takes it (as in the
            field's tables); one of shared, lowest.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "wawa"
    _parameters = ("ties",)

    def __init__(
        self,
        *,
        ties: Literal["shared", "lowest"] = "shared",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.ties = ties
        self.random_state = random_state
        self.n_jobs = n_jobs


class ZeroBasedSkill(Estimator):
    """Votes weighted by agreement with the weighted vote, iterated.

    Each worker's weight is the share of its labels that agree with the weighted vote; vote and weights are
    repeated with a falling learning rate until both stand still. Cheap; mutes bad workers but never turns
    them round.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: Folklore (iterated worker agreement with aggregate)

    Args:
        max_iter: largest number of rounds; a whole number from 1 to 1000000.
        tol: stops when no label changes and no skill is further than this from its agreement; a number from 0
            to 1.
        halve_every: rounds after which the learning rate is halved; a whole number from 1 to 1000000.
        ties: whose skill grows by a tied vote: the tied classes share it, or the lowest takes it (as in the
            field's tables); one of shared, lowest.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "zero-based-skill"
    _parameters = ("max_iter", "tol", "halve_every", "ties")

    def __init__(
        self,
        *,
        max_iter: int = 100,
        tol: float = 1e-05,
        halve_every: int = 20,
        ties: Literal["shared", "lowest"] = "shared",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.halve_every = halve_every
        self.ties = ties
        self.random_state = random_state
        self.n_jobs = n_jobs


class IWMV(Estimator):
    """Votes weighted by how far each worker is above chance, iterated.

    Each worker votes with weight K w - 1, w being its agreement with the weighted vote: chance counts
    nothing, worse than chance counts against itself. Repeated until the labels come back. Fast and good where
    workers differ in accuracy alone; fails where they lean towards a class.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: H. Li, B. Yu: Error rate bounds and iterative weighted majority voting for crowdsourcing.
    arXiv:1411.4086 (2014)

    Args:
        max_iter: largest number of rounds; a whole number from 1 to 1000000.
        weight: weight of a worker of accuracy w: K w - 1, or the log-odds; one of linear, log.
        ties: whose skill grows by a tied vote: the tied classes share it, or the lowest takes it (as in the
            field's tables); one of shared, lowest.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "iwmv"
    _parameters = ("max_iter", "weight", "ties")

    def __init__(
        self,
        *,
        max_iter: int = 50,
        weight: Literal["linear", "log"] = "linear",
        ties: Literal["shared", "lowest"] = "shared",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.max_iter = max_iter
        self.weight = weight
        self.ties = ties
        self.random_state = random_state
        self.n_jobs = n_jobs


class MMSR(Estimator):
    """Skills from pairwise agreement, by robust rank-one completion.

    How often two workers agree is the product of their skills; the skills are recovered from all pairs with
    the extreme ratios left out, so that a minority of adversaries cannot spoil them. Needs workers that share
    tasks with many others; one skill a worker, so it fails where workers lean towards a class.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: Q. Ma, A. Olshevsky: Adversarial crowdsourcing through robust rank-one matrix completion.
    NeurIPS 2020

    Args:
        max_iter: largest number of sweeps; a whole number from 1 to 1000000.
        tol: stops when the rank-one matrix moves by less than this (Frobenius norm); a number from 0 to 1.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "m-msr"
    _parameters = ("max_iter", "tol")

    def __init__(
        self,
        *,
        max_iter: int = 10000,
        tol: float = 1e-10,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs


class KOS(Estimator):
    """Iterative message passing between tasks and workers.

    Each label carries two messages: what the task believes without this worker, and how far to trust the
    worker without this task. Made for two classes and for crowds where all workers give about the same number
    of labels; with more classes it asks K - 1 ordered questions, which suits grades. Poor, even near chance,
    where a few workers gave most labels.

    Reference: D. R. Karger, S. Oh, D. Shah: Budget-optimal task allocation for reliable crowdsourcing
    systems. Operations Research 62 (2014)

    Args:
        rounds: rounds of messages; a whole number from 1 to 1000000.
        start: first messages of the workers: all ones, or drawn from Normal(1, 1) with the seed (the
            original); one of ones, normal.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "kos"
    _parameters = ("rounds", "start")

    def __init__(
        self,
        *,
        rounds: int = 10,
        start: Literal["ones", "normal"] = "ones",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.rounds = rounds
        self.start = start
        self.random_state = random_state
        self.n_jobs = n_jobs


class KOSSVD(Estimator):
    """Leading singular vector of the centred answers (the tables' KOS).

    Codes answers as signs, removes each worker's mean and takes the leading singular vector: its signs are
    the labels. Good where every worker labelled every task, poor where labels are sparse, because the leading
    direction then says who labelled what. Asks K - 1 ordered questions where there are more than two classes.

    Reference: D. R. Karger, S. Oh, D. Shah: Efficient crowdsourcing for multi-class labeling. SIGMETRICS 2013

    Args:
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "kos-svd"
    _parameters = ()

    def __init__(
        self,
        *,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.random_state = random_state
        self.n_jobs = n_jobs


class GhoshSVD(Estimator):
    """Leading singular vector of the answers as signs.

    Codes answers as signs and takes the leading singular vector of the task by worker matrix: its signs are
    the labels, turned to agree with the votes. Sound for two classes where everybody labelled everything; a
    heuristic otherwise, and near chance where few workers gave most of the labels. Asks K - 1 ordered
    questions where there are more than two classes.

    Reference: A. Ghosh, S. Kale, P. McAfee: Who moderates the moderators? Crowdsourcing abuse detection in
    user-generated content. EC 2011

    Args:
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "ghosh-svd"
    _parameters = ()

    def __init__(
        self,
        *,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.random_state = random_state
        self.n_jobs = n_jobs


class EigenRatio(Estimator):
    """Reliabilities from eigenvectors of pairwise agreement rates.

    How often two workers agree, less how often they do not, is the product of their reliabilities; the
    leading eigenvector of these rates, divided by that of the overlap, gives the reliabilities, and they
    weigh the votes. Needs pairs with enough tasks in common. For two classes; with more it asks K - 1 ordered
    questions.

    Reference: N. Dalvi, A. Dasgupta, R. Kumar, V. Rastogi: Aggregating crowdsourced binary ratings. WWW 2013

    Args:
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "eigen-ratio"
    _parameters = ()

    def __init__(
        self,
        *,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.random_state = random_state
        self.n_jobs = n_jobs


class MultiSPA(Estimator):
    """Confusion matrices from extreme columns of pairwise co-occurrences.

    Stacks the co-occurrences of a worker with all others and picks the most extreme columns: they are the
    worker's confusion matrix if every class has a specialist among the others. Fast and without local optima,
    but it follows the noise of pairs that share few tasks; a good start for cnmf or EM.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: S. Ibrahim, X. Fu, N. Kargas, K. Huang: Crowdsourcing via pairwise co-occurrences:
    identifiability and algorithms. NeurIPS 2019

    Args:
        min_blocks: co-occurrence blocks of full rank that a worker needs to be estimated (the 2019 program:
            8); a whole number from 2 to 1000000.
        fill: matrix of a worker that cannot be estimated: counted against vote shares, or uniform; one of
            votes, uniform.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "multi-spa"
    _parameters = ("min_blocks", "fill")

    def __init__(
        self,
        *,
        min_blocks: int = 2,
        fill: Literal["votes", "uniform"] = "votes",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.min_blocks = min_blocks
        self.fill = fill
        self.random_state = random_state
        self.n_jobs = n_jobs


class CNMF(Estimator):
    """Coupled factorisation of pairwise co-occurrences, Kullback-Leibler loss.

    Fits confusion matrices and prior to the co-occurrences of all pairs of workers, starting from multi-spa.
    Uses pairs where EM uses whole tasks, which makes it less sure of itself and robust on sparse data. Ten
    sweeps: more lower the loss and raise the error. update=mirror weights=equal min-blocks=8 prior=flat is
    the published form.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: S. Ibrahim, X. Fu, N. Kargas, K. Huang: Crowdsourcing via pairwise co-occurrences:
    identifiability and algorithms. NeurIPS 2019

    Args:
        update: all blocks at once by a multiplicative update, or worker by worker by mirror descent
            (published); one of multiplicative, mirror.
        weights: weight of a pair: the number of tasks it shares, or the same for all (published); one of
            shared, equal.
        prior: whether the prior is estimated or stays flat (as it did in the compared runs with over 1000
            pairs); one of estimated, flat.
        min_blocks: co-occurrence blocks of full rank that a worker needs to be estimated (the 2019 program:
            8); a whole number from 2 to 1000000.
        sweeps: largest number of sweeps; many sweeps fit noise; a whole number from 1 to 1000000.
        tol: stops when a sweep lowers the loss by less than this share; a number from 0 to 1.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "cnmf"
    _parameters = ("update", "weights", "prior", "min_blocks", "sweeps", "tol")

    def __init__(
        self,
        *,
        update: Literal["multiplicative", "mirror"] = "multiplicative",
        weights: Literal["shared", "equal"] = "shared",
        prior: Literal["estimated", "flat"] = "estimated",
        min_blocks: int = 2,
        sweeps: int = 10,
        tol: float = 1e-06,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.update = update
        self.weights = weights
        self.prior = prior
        self.min_blocks = min_blocks
        self.sweeps = sweeps
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs


class SpectralDS(Estimator):
    """Moments of three groups of workers, tensor decomposition, then EM.

    Deals the workers into three groups, finds the groups' confusion matrices from third-order moments by a
    tensor power method, reads off each worker's matrix and polishes by EM. Needs no good start and many
    tasks; with few labels a class or many classes the moments are too noisy.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: Y. Zhang, X. Chen, D. Zhou, M. I. Jordan: Spectral methods meet EM: a provably optimal
    algorithm for crowdsourcing. JMLR 17 (2016)

    Args:
        rounds: EM rounds after the spectral start, an M-step and an E-step each; a whole number from 0 to
            1000000.
        starts: random starts of the tensor power method; a whole number from 1 to 1000000.
        steps: largest number of steps from each start; a whole number from 1 to 1000000.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "spectral-ds"
    _parameters = ("rounds", "starts", "steps")

    def __init__(
        self,
        *,
        rounds: int = 9,
        starts: int = 100,
        steps: int = 100,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.rounds = rounds
        self.starts = starts
        self.steps = steps
        self.random_state = random_state
        self.n_jobs = n_jobs


class MinimaxEntropy(Estimator):
    """Workers' confusion and tasks' difficulty by minimax conditional entropy.

    Every worker and every task has a table that bends the probabilities of answers, held small by a penalty:
    it can tell a confusing task from a poor worker. Strong on moderate data with several labels a task.
    model=ordinal shares parameters between neighbouring classes, for grades; there the order of the classes
    matters.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: D. Zhou, S. Basu, Y. Mao, J. Platt: Learning from the wisdom of crowds by minimax entropy. NIPS
    2012; D. Zhou, Q. Liu, J. Platt, C. Meek: Aggregating ordinal labels from crowds by minimax conditional
    entropy. ICML 2014

    Args:
        model: tables with all K x K entries free, or with parameters for ordered classes (grades); one of
            categorical, ordinal.
        gamma: strength of the penalties; a number from 0.000001 to 1000000000.
        max_iter: largest number of rounds; a whole number from 1 to 1000000.
        tol: stops when no posterior changes by more than this; a number from 0 to 1.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "minimax-entropy"
    _parameters = ("model", "gamma", "max_iter", "tol")

    def __init__(
        self,
        *,
        model: Literal["categorical", "ordinal"] = "categorical",
        gamma: float = 0.25,
        max_iter: int = 50,
        tol: float = 0.005,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.model = model
        self.gamma = gamma
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs


class TensorADMM(Estimator):
    """Least squares on answer frequencies of workers, pairs and triples.

    Fits confusion matrices and prior to the frequencies of answers of single workers, pairs and triples, by
    alternating least squares with ADMM. Third moments identify the model without specialists, but need
    triples of workers with many tasks in common. Uses only observed triples, a seeded sample of them beyond
    max-triples.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: P. A. Traganitis, A. Pages-Zamora, G. B. Giannakis: Blind multiclass ensemble classification.
    IEEE Transactions on Signal Processing 66 (2018)

    Args:
        max_triples: triples of workers to use; beyond that a seeded sample of at least about half as many; a
            whole number from 0 to 1000000000.
        sweeps: largest number of sweeps over the workers; a whole number from 1 to 1000000.
        tol: stops when matrices and prior, or the objective, change by less than this share in a sweep; a
            number from 0 to 1.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "tensor-admm"
    _parameters = ("max_triples", "sweeps", "tol")

    def __init__(
        self,
        *,
        max_triples: int = 200000,
        sweeps: int = 500,
        tol: float = 1e-06,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.max_triples = max_triples
        self.sweeps = sweeps
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs


class PGTAC(Estimator):
    """Tensor completion with a layer of truths (a reconstruction).

    Writes the answers as a tensor of tasks, classes and workers, adds a layer for the truth that starts at
    majority vote, and completes the whole at low rank. A reconstruction: the published algorithm was not
    available. With the default hard layer it repeats majority vote, as the errors published for it do;
    layer=soft lets the completion speak. Dense, for moderate sizes.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: Y. Zhou, J. He: Crowdsourcing via tensor augmentation and completion. IJCAI 2016
    (reconstruction)

    Args:
        layer: truths as one-hot labels that count as observed, or as shares that follow the completion; one
            of hard, soft.
        theta: weight of the rank, as a share of the largest singular value of the unfolding by task; a number
            from 0 to 10.
        inner: largest number of steps for one layer; a whole number from 1 to 1000000.
        outer: largest number of layers; a whole number from 1 to 1000000.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "pg-tac"
    _parameters = ("layer", "theta", "inner", "outer")

    def __init__(
        self,
        *,
        layer: Literal["hard", "soft"] = "hard",
        theta: float = 0.06,
        inner: int = 15,
        outer: int = 5,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.layer = layer
        self.theta = theta
        self.inner = inner
        self.outer = outer
        self.random_state = random_state
        self.n_jobs = n_jobs


class CRIAV(Estimator):
    """Voting after low-rank tensor completion (a reconstruction).

    Writes the answers as a tensor of tasks, classes and workers, completes and corrects it by a low-rank fit,
    and lets the completed workers vote. A reconstruction: the published algorithm was not available, and the
    settings were chosen with the published errors in view. Dense, for moderate sizes.

    Estimates a model: ``priors_``, ``errors_``, ``skills_``.

    Reference: S.-Y. Li, Y. Jiang: Multi-label crowdsourcing learning with incomplete annotations. PRICAI 2018
    (reconstruction)

    Args:
        theta: weight of the rank, as a share of the largest singular value of the unfolding by task; a number
            from 0 to 10.
        rho: penalty of ADMM; a number from 0.000001 to 1000000.
        steps: largest number of steps; a whole number from 1 to 1000000.
        tol: stops when a step moves the tensor by less than this share of its size; a number from 0 to 1.
        random_state: Seed of everything random.
        n_jobs: Number of threads; None takes all.
    """

    _method = "cria-v"
    _parameters = ("theta", "rho", "steps", "tol")

    def __init__(
        self,
        *,
        theta: float = 0.2,
        rho: float = 0.1,
        steps: int = 40,
        tol: float = 0.0001,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None:
        self.theta = theta
        self.rho = rho
        self.steps = steps
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs


_CLASSES: Dict[str, Type[Estimator]] = {
    "auto": Auto,
    "rob-symnmf-em": RobSymNMFEM,
    "rob-symnmf": RobSymNMF,
    "rob-symnmf-uniform": RobSymNMFUniform,
    "des-symnmf-em": DesSymNMFEM,
    "des-symnmf": DesSymNMF,
    "symnmf-em": SymNMFEM,
    "symnmf": SymNMF,
    "majority-vote": MajorityVote,
    "dawid-skene": DawidSkene,
    "task-effects": TaskEffects,
    "pooled-ds": PooledDS,
    "one-coin": OneCoin,
    "fast-ds": FastDS,
    "crowdlab": Crowdlab,
    "crowd-layer": CrowdLayer,
    "dl-mv": DLMV,
    "ibcc": IBCC,
    "ebcc": EBCC,
    "glad": GLAD,
    "mace": MACE,
    "wawa": Wawa,
    "zero-based-skill": ZeroBasedSkill,
    "iwmv": IWMV,
    "m-msr": MMSR,
    "kos": KOS,
    "kos-svd": KOSSVD,
    "ghosh-svd": GhoshSVD,
    "eigen-ratio": EigenRatio,
    "multi-spa": MultiSPA,
    "cnmf": CNMF,
    "spectral-ds": SpectralDS,
    "minimax-entropy": MinimaxEntropy,
    "tensor-admm": TensorADMM,
    "pg-tac": PGTAC,
    "cria-v": CRIAV,
}
