"""Client of the tracked-wallet data service: typed calls, and a trade feed that resumes."""

from .async_client import AsyncTrackedWallets
from .calls import TradesPage
from .client import TrackedWallets
from .errors import FeedEnded, Refused, TrackedWalletsError, UnexpectedAnswer, Unreachable
from .feed import FeedEvent, GapEvent, Notice, RetractedEvent, TradeEvent
from .model import AnsweredCall
from .same_trade import is_same_trade
from .webhooks import Delivery, NotVerified, read_delivery

__all__ = [
    "AnsweredCall",
    "AsyncTrackedWallets",
    "Delivery",
    "FeedEnded",
    "FeedEvent",
    "GapEvent",
    "NotVerified",
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
    "read_delivery",
]
