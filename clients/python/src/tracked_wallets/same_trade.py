"""Comparison of trades that the feed and pages of trades have."""

from .models import Trade

LASTING_FIELDS = (
    "block_time",
    "wallet",
    "side",
    "mint",
    "token_amount",
    "decimals",
    "sol_amount",
    "quote_mint",
    "quote_amount",
    "program",
)
"""Fields that the transaction alone decides. Others may be filled in after the feed (rule L3)."""


def is_same_trade(a: Trade, b: Trade) -> bool:
    """Whether two items are the same trade, whether `GET /trades` or the feed gave them.

    A wallet that trades alike twice within one second has two trades that are the same: a
    withdrawal removes one of them.
    """
    return all(getattr(a, field) == getattr(b, field) for field in LASTING_FIELDS)
