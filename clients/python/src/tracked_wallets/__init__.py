"""Client of the tracked-wallet data service: typed calls, and a trade feed that resumes."""

from .async_client import AsyncTrackedWallets
from .calls import TradesPage
from .client import TrackedWallets
from .errors import FeedEnded, Refused, TrackedWalletsError, UnexpectedAnswer, Unreachable
from .feed import FeedEvent, GapEvent, Notice, RetractedEvent, TradeEvent
from .model import AnsweredCall
from .same_trade import is_same_trade

__all__ = [
    "AnsweredCall",
    "AsyncTrackedWallets",
    "FeedEnded",
    "FeedEvent",
    "GapEvent",
    "Notice",
    "Refused",
    "RetractedEvent",
    "TrackedWallets",
    "TrackedWalletsError",
    "TradeEvent",
    "TradesPage",
    "UnexpectedAnswer",
    "Unreachable",
    "is_same_trade",
]
