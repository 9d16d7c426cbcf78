"""crowd-kit's aggregators."""

from quorate.compat.crowdkit.aggregation.classification import (
    GLAD,
    KOS,
    MACE,
    MMSR,
    DawidSkene,
    GoldMajorityVote,
    MajorityVote,
    OneCoinDawidSkene,
    Wawa,
    ZeroBasedSkill,
)
from quorate.compat.crowdkit.aggregation.multilabel import BinaryRelevance
from quorate.compat.crowdkit.aggregation.pairwise import BradleyTerry, NoisyBradleyTerry

__all__ = [
    "BinaryRelevance",
    "BradleyTerry",
    "DawidSkene",
    "GLAD",
    "GoldMajorityVote",
    "KOS",
    "MACE",
    "MMSR",
    "MajorityVote",
    "NoisyBradleyTerry",
    "OneCoinDawidSkene",
    "Wawa",
    "ZeroBasedSkill",
]
