"""The aggregators of crowd-kit."""

from .classification import (
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
from .pairwise import BradleyTerry, NoisyBradleyTerry

__all__ = [
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
