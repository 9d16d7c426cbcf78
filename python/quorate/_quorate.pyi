"""The native half; everything that people call is Python around it."""

import os
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union, final

__version__: str

_Path = Union[str, "os.PathLike[str]"]
_Node = Tuple[int, int, bytes]
_EncodedBlock = Tuple[int, bytes, bytes, int, int, int, int]

@final
class Data:
    @staticmethod
    def path(path: _Path) -> Data: ...
    @staticmethod
    def stream(capsule: object, name: str) -> Data: ...
    @staticmethod
    def columns(columns: Sequence[Tuple[str, List[Any]]], name: str) -> Data: ...
    def column_names(self) -> List[str]: ...
    def column_types(self) -> List[str]: ...
    def row_count(self) -> Optional[int]: ...

@final
class ArrowTable:
    @staticmethod
    def from_ipc(bytes: bytes) -> ArrowTable: ...
    def to_ipc(self) -> bytes: ...
    def column_names(self) -> List[str]: ...
    def __len__(self) -> int: ...
    def head(self, rows: int) -> ArrowTable: ...
    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...
    def column(self, name: str) -> List[Any]: ...

@final
class Labels:
    notes: List[str]
    warnings: List[str]
    task_count: int
    worker_count: int
    label_count: int
    classes: List[str]
    def table(self) -> ArrowTable: ...
    def write(self, path: _Path, to: Optional[str]) -> None: ...

@final
class Model:
    method: str
    parameters: List[Tuple[str, str]]
    seed: int
    fingerprint: str
    classes: List[str]
    prior: List[float]
    workers: List[str]
    @staticmethod
    def load(path: _Path) -> Model: ...
    @staticmethod
    def from_json(text: str) -> Model: ...
    def save(self, path: _Path) -> None: ...
    def to_json(self) -> str: ...
    def confusion(self, worker: str) -> Optional[List[List[float]]]: ...

@final
class Fitted:
    seed: int
    seconds: float
    method: str
    parameters: List[Tuple[str, str]]
    classes: List[str]
    iterations: int
    converged: bool
    trace: List[float]
    warnings: List[str]
    notes: List[str]
    prior: Optional[List[float]]
    has_difficulty: bool
    def summary(self) -> Dict[str, Any]: ...
    def labels(self, probabilities: bool, difficulty: bool) -> ArrowTable: ...
    def workers(self) -> ArrowTable: ...
    def changes(self) -> ArrowTable: ...
    def confusion(self) -> Optional[ArrowTable]: ...
    def intervals(self, level: float, progress: Optional[object]) -> Optional[ArrowTable]: ...
    def model(self) -> Optional[Model]: ...
    def save_model(self, path: _Path, keep_labels: bool) -> bool: ...
    def write_labels(self, path: _Path, probabilities: bool) -> None: ...
    def review(self, most: int) -> ArrowTable: ...
    def pictures(self) -> Tuple[str, str, str]: ...
    def class_shares(self) -> ArrowTable: ...
    def to_state(self) -> Dict[str, Any]: ...
    @staticmethod
    def from_state(state: Dict[str, Any]) -> Fitted: ...
    def predict(self, labels: Labels) -> Optional[Tuple[ArrowTable, int]]: ...

def read(
    data: Data,
    *,
    columns: Tuple[str, str, str],
    classes: Optional[List[str]],
    duplicates: str,
    missing: List[str],
    normalize: bool,
    keep_workers: Optional[List[str]],
    wide: bool,
    format: Optional[str],
    question: Optional[str],
    use_gold: bool,
    threads: int,
    progress: Optional[object],
) -> Labels: ...
def formats() -> List[str]: ...
def fit(
    labels: Labels,
    *,
    method: str,
    parameters: List[Tuple[str, str]],
    gold: Optional[Data],
    prior: Optional[List[Tuple[str, float]]],
    prior_weight: Optional[float],
    worker_prior: Optional[Model],
    worker_prior_weight: float,
    features: Optional[Data],
    feature_tasks: Optional[List[str]],
    class_probabilities: Optional[Data],
    update: Optional[_Path],
    calibrate: bool,
    seed: int,
    threads: int,
    memory: float,
    progress: Optional[object],
) -> Fitted: ...
def evaluate(
    predicted: Data, truth: Data, *, except_tasks: List[str], ties: str, bins: int
) -> Tuple[str, Optional[str]]: ...
def judges(
    data: Data,
    *,
    gold: Optional[Data],
    columns: Tuple[str, str, str],
    classes: Optional[List[str]],
    missing: List[str],
    policy: str,
    unscored: str,
    quorum: int,
    positive: Optional[str],
    seed: int,
    threads: int,
    memory: float,
    progress: Optional[object],
) -> Tuple[ArrowTable, str]: ...
def error_of(fitted: Fitted, truth: Data) -> Tuple[float, float, int]: ...
def inspect(
    labels: Labels,
    *,
    replicates: int,
    min_shared: int,
    false_alarms: float,
    pairs: int,
    seed: int,
    threads: int,
    memory: float,
    progress: Optional[object],
) -> str: ...
def simulate(
    *,
    tasks: int,
    workers: int,
    classes: int,
    prior: Optional[List[float]],
    density: float,
    labels_per_task: Optional[int],
    accuracy: Optional[Tuple[float, float]],
    experts: float,
    specialists: float,
    epsilon: float,
    spammers: float,
    constant_spammers: float,
    adversaries: float,
    designated: int,
    designated_density: float,
    missing_pairs: float,
    skew: float,
    seed: int,
) -> Tuple[Labels, ArrowTable, Model]: ...
@final
class BlockEncoder:
    def __new__(cls, duplicates: str, has_gold: bool) -> BlockEncoder: ...
    def push(self, capsule: object) -> List[_EncodedBlock]: ...
    def finish(self) -> Optional[_EncodedBlock]: ...

@final
class PassRunner:
    def __new__(cls, request: bytes) -> PassRunner: ...
    def add(self, number: int, labels: bytes) -> None: ...
    def add_node(self, level: int, place: int, part: bytes) -> None: ...
    def finish(self) -> List[_Node]: ...

@final
class ClusterFit:
    seed: int
    method: str
    classes: List[str]
    iterations: int
    converged: bool
    trace: List[float]
    warnings: List[str]
    notes: List[str]
    def rule(self) -> bytes: ...
    def fingerprint(self) -> bytes: ...
    def summary(self) -> Dict[str, Any]: ...
    def workers(self) -> ArrowTable: ...
    def model(self, task_hashes: int) -> Optional[Model]: ...

def arrange_classes(
    found: List[str], *, further: List[str], labels: int, normalize: bool
) -> Tuple[List[str], List[int], List[str], List[str]]: ...
def fit_cluster(
    ask: Callable[[bytes], List[_Node]],
    *,
    workers: List[str],
    classes: List[str],
    tasks: int,
    labels: int,
    has_gold: bool,
    method: str,
    parameters: List[Tuple[str, str]],
    prior: Optional[List[Tuple[str, float]]],
    prior_weight: Optional[float],
    worker_prior: Optional[Model],
    worker_prior_weight: float,
    calibrate: bool,
    seed: int,
    threads: int,
    memory: float,
    progress: Optional[object],
) -> ClusterFit: ...
def inspect_cluster(
    ask: Callable[[bytes], List[_Node]],
    *,
    workers: List[str],
    classes: List[str],
    tasks: int,
    labels: int,
    memory: float,
    progress: Optional[object],
) -> Dict[str, Any]: ...
def label_rows(rule: bytes, labels: bytes, tasks: bytes, workers: int, classes: List[str]) -> ArrowTable: ...
def hash_tasks(fingerprint: bytes, labels: bytes, tasks: bytes) -> int: ...
def error_interval(wrong: float, scored: int) -> Tuple[float, float]: ...
def method_table() -> List[Dict[str, Any]]: ...
def find_method(name: str) -> str: ...
def run_program(arguments: Sequence[str]) -> int: ...

def plan(
    fitted: Fitted,
    *,
    budget: float,
    costs: Optional[Data],
    capacity: Optional[int],
    capacities: Optional[Data],
    exclude: Optional[Data],
    explore: Optional[float],
    target: Optional[float],
    retire: float,
    progress: Optional[object],
) -> Tuple[ArrowTable, ArrowTable, str, List[str]]: ...
def dispatch(
    fitted: Fitted,
    *,
    shared: Optional[int],
    exclude: Optional[Data],
    progress: Optional[object],
) -> Tuple[ArrowTable, ArrowTable, str, List[str]]: ...
def replay_plan(
    fitted: Fitted,
    *,
    budget: float,
    truth: Data,
    start: int,
    rounds: int,
    capacity: Optional[int],
    explore: Optional[float],
    progress: Optional[object],
) -> str: ...
def gauge(share: float) -> str: ...
def report(
    fitted: Fitted,
    *,
    path: Optional[_Path],
    title: str,
    truth: Optional[Data],
    task_url: Optional[str],
    texts: Optional[Data],
    show: str,
    budget: Optional[float],
    target: Optional[float],
    spreadsheet_safe: bool,
    progress: Optional[object],
) -> Tuple[str, List[str]]: ...
