# Written by python/tools/generate_methods.py from the table of methods: do not edit.

from typing import List, Literal, Optional, Type

from ._estimator import Estimator as Estimator
from ._estimator import clone as clone
from ._ranker import Ranker as Ranker

__all__ = [
    "Auto",
    "BradleyTerry",
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
    "Elo",
    "Estimator",
    "FastDS",
    "GLAD",
    "GhoshSVD",
    "IBCC",
    "IWMV",
    "JudgeBT",
    "KOS",
    "KOSSVD",
    "MACE",
    "MMSR",
    "MajorityVote",
    "MinimaxEntropy",
    "MultiSPA",
    "OneCoin",
    "PGTAC",
    "PlackettLuce",
    "PooledDS",
    "Ranker",
    "RobSymNMF",
    "RobSymNMFEM",
    "RobSymNMFUniform",
    "SpectralDS",
    "SymNMF",
    "SymNMFEM",
    "TaskEffects",
    "TensorADMM",
    "Wawa",
    "WinRate",
    "ZeroBasedSkill",
    "clone",
    "find_method",
    "find_ranker",
    "list_methods",
    "list_rankers",
]

def list_methods() -> List[str]: ...
def find_method(name: str) -> Type[Estimator]: ...
def list_rankers() -> List[str]: ...
def find_ranker(name: str) -> Type[Ranker]: ...

class Auto(Estimator):
    max_iter: int
    misled: float
    copies: Literal["once", "all"]
    def __init__(
        self,
        *,
        max_iter: int = 200,
        misled: float = 0.3,
        copies: Literal["once", "all"] = "once",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class RobSymNMFEM(Estimator):
    init: Literal["votes", "random"]
    shrinkage: float
    evidence: float
    xi: float
    solver: Literal["exact", "gradient"]
    sweeps: int
    sweep_tol: float
    form: Literal["auto", "pairs", "matrix-free"]
    alpha: float
    psi: float
    steps: int
    rows: Literal["labels", "equal"]
    max_iter: int
    tol: float
    smoothing: float
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
    ) -> None: ...

class RobSymNMF(Estimator):
    init: Literal["votes", "random"]
    shrinkage: float
    evidence: float
    xi: float
    solver: Literal["exact", "gradient"]
    sweeps: int
    sweep_tol: float
    form: Literal["auto", "pairs", "matrix-free"]
    alpha: float
    psi: float
    steps: int
    rows: Literal["labels", "equal"]
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
    ) -> None: ...

class RobSymNMFUniform(Estimator):
    init: Literal["votes", "random"]
    shrinkage: float
    evidence: float
    solver: Literal["exact", "gradient"]
    sweeps: int
    sweep_tol: float
    form: Literal["auto", "pairs", "matrix-free"]
    alpha: float
    psi: float
    steps: int
    rows: Literal["labels", "equal"]
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
    ) -> None: ...

class DesSymNMFEM(Estimator):
    shrinkage: float
    designated: str
    pair: Literal["average", "random"]
    alpha: float
    psi: float
    steps: int
    rows: Literal["labels", "equal"]
    max_iter: int
    tol: float
    smoothing: float
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
    ) -> None: ...

class DesSymNMF(Estimator):
    shrinkage: float
    designated: str
    pair: Literal["average", "random"]
    alpha: float
    psi: float
    steps: int
    rows: Literal["labels", "equal"]
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
    ) -> None: ...

class SymNMFEM(Estimator):
    shrinkage: float
    alpha: float
    psi: float
    steps: int
    rows: Literal["labels", "equal"]
    max_iter: int
    tol: float
    smoothing: float
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
    ) -> None: ...

class SymNMF(Estimator):
    shrinkage: float
    alpha: float
    psi: float
    steps: int
    rows: Literal["labels", "equal"]
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
    ) -> None: ...

class MajorityVote(Estimator):
    ties: Literal["lowest", "prior", "random"]
    def __init__(
        self,
        *,
        ties: Literal["lowest", "prior", "random"] = "lowest",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class DawidSkene(Estimator):
    max_iter: int
    tol: float
    smoothing: float
    prior: Literal["estimated", "flat"]
    def __init__(
        self,
        *,
        max_iter: int = 1000,
        tol: float = 1e-06,
        smoothing: float = 0.0,
        prior: Literal["estimated", "flat"] = "estimated",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class TaskEffects(Estimator):
    max_iter: int
    tol: float
    largest_effect: float
    anchor: float
    def __init__(
        self,
        *,
        max_iter: int = 40,
        tol: float = 0.001,
        largest_effect: float = 0.7,
        anchor: float = 5.0,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class PooledDS(Estimator):
    max_iter: int
    tol: float
    strength: float
    def __init__(
        self,
        *,
        max_iter: int = 1000,
        tol: float = 1e-06,
        strength: float = 4.0,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class OneCoin(Estimator):
    max_iter: int
    tol: float
    prior: Literal["estimated", "flat"]
    def __init__(
        self,
        *,
        max_iter: int = 1000,
        tol: float = 1e-06,
        prior: Literal["estimated", "flat"] = "estimated",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class FastDS(Estimator):
    max_iter: int
    smoothing: float
    start: Literal["shares", "majority"]
    def __init__(
        self,
        *,
        max_iter: int = 100,
        smoothing: float = 0.0,
        start: Literal["shares", "majority"] = "shares",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class Crowdlab(Estimator):
    def __init__(
        self,
        *,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class CrowdLayer(Estimator):
    epochs: int
    batch: int
    learning_rate: float
    dropout: float
    hidden: int
    scaling: Literal["none", "standard"]
    map: Literal["matrix", "scale", "scale-bias"]
    start: float
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
    ) -> None: ...

class DLMV(Estimator):
    epochs: int
    batch: int
    learning_rate: float
    dropout: float
    hidden: int
    scaling: Literal["none", "standard"]
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
    ) -> None: ...

class IBCC(Estimator):
    max_iter: int
    tol: float
    right: float
    wrong: float
    class_count: float
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
    ) -> None: ...

class EBCC(Estimator):
    restarts: int
    subtypes: int
    max_iter: int
    tol: float
    right: float
    wrong: float
    subtype_count: float
    class_counts: Literal["votes", "one"]
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
    ) -> None: ...

class GLAD(Estimator):
    max_iter: int
    tol: float
    m_steps: int
    def __init__(
        self,
        *,
        max_iter: int = 100,
        tol: float = 1e-05,
        m_steps: int = 10,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class MACE(Estimator):
    restarts: int
    max_iter: int
    tol: float
    update: Literal["variational", "em"]
    smoothing: float
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
    ) -> None: ...

class Wawa(Estimator):
    ties: Literal["shared", "lowest"]
    def __init__(
        self,
        *,
        ties: Literal["shared", "lowest"] = "shared",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class ZeroBasedSkill(Estimator):
    max_iter: int
    tol: float
    halve_every: int
    ties: Literal["shared", "lowest"]
    def __init__(
        self,
        *,
        max_iter: int = 100,
        tol: float = 1e-05,
        halve_every: int = 20,
        ties: Literal["shared", "lowest"] = "shared",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class IWMV(Estimator):
    max_iter: int
    weight: Literal["linear", "log"]
    ties: Literal["shared", "lowest"]
    def __init__(
        self,
        *,
        max_iter: int = 50,
        weight: Literal["linear", "log"] = "linear",
        ties: Literal["shared", "lowest"] = "shared",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class MMSR(Estimator):
    max_iter: int
    tol: float
    def __init__(
        self,
        *,
        max_iter: int = 10000,
        tol: float = 1e-10,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class KOS(Estimator):
    rounds: int
    start: Literal["ones", "normal"]
    def __init__(
        self,
        *,
        rounds: int = 10,
        start: Literal["ones", "normal"] = "ones",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class KOSSVD(Estimator):
    def __init__(
        self,
        *,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class GhoshSVD(Estimator):
    def __init__(
        self,
        *,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class EigenRatio(Estimator):
    def __init__(
        self,
        *,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class MultiSPA(Estimator):
    min_blocks: int
    fill: Literal["votes", "uniform"]
    def __init__(
        self,
        *,
        min_blocks: int = 2,
        fill: Literal["votes", "uniform"] = "votes",
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class CNMF(Estimator):
    update: Literal["multiplicative", "mirror"]
    weights: Literal["shared", "equal"]
    prior: Literal["estimated", "flat"]
    min_blocks: int
    sweeps: int
    tol: float
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
    ) -> None: ...

class SpectralDS(Estimator):
    rounds: int
    starts: int
    steps: int
    def __init__(
        self,
        *,
        rounds: int = 9,
        starts: int = 100,
        steps: int = 100,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class MinimaxEntropy(Estimator):
    model: Literal["categorical", "ordinal"]
    gamma: float
    max_iter: int
    tol: float
    def __init__(
        self,
        *,
        model: Literal["categorical", "ordinal"] = "categorical",
        gamma: float = 0.25,
        max_iter: int = 50,
        tol: float = 0.005,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class TensorADMM(Estimator):
    max_triples: int
    sweeps: int
    tol: float
    def __init__(
        self,
        *,
        max_triples: int = 200000,
        sweeps: int = 500,
        tol: float = 1e-06,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class PGTAC(Estimator):
    layer: Literal["hard", "soft"]
    theta: float
    inner: int
    outer: int
    def __init__(
        self,
        *,
        layer: Literal["hard", "soft"] = "hard",
        theta: float = 0.06,
        inner: int = 15,
        outer: int = 5,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class CRIAV(Estimator):
    theta: float
    rho: float
    steps: int
    tol: float
    def __init__(
        self,
        *,
        theta: float = 0.2,
        rho: float = 0.1,
        steps: int = 40,
        tol: float = 0.0001,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class JudgeBT(Ranker):
    max_iter: int
    tol: float
    def __init__(
        self,
        *,
        max_iter: int = 200,
        tol: float = 1e-06,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class BradleyTerry(Ranker):
    max_iter: int
    tol: float
    prior: float
    def __init__(
        self,
        *,
        max_iter: int = 200,
        tol: float = 1e-12,
        prior: float = 0.0,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class PlackettLuce(Ranker):
    max_iter: int
    tol: float
    def __init__(
        self,
        *,
        max_iter: int = 200,
        tol: float = 1e-09,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class WinRate(Ranker):
    def __init__(
        self,
        *,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...

class Elo(Ranker):
    k: float
    def __init__(
        self,
        *,
        k: float = 4.0,
        random_state: int = 0,
        n_jobs: Optional[int] = None,
    ) -> None: ...
