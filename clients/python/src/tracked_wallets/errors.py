"""Errors of the client. All are a `TrackedWalletsError`."""

from collections.abc import Sequence

from .model import AnsweredCall
from .models import ProblemError


class TrackedWalletsError(Exception):
    """An error of this client."""


class Unreachable(TrackedWalletsError):
    """The service could not be reached, or did not answer in time, after the last repetition.

    `__cause__` is the error of the last attempt.
    """


class UnexpectedAnswer(TrackedWalletsError):
    """A successful answer is not of the form that this version of the client knows.

    Of the feed, `position` is that of the last event.
    """

    def __init__(self, message: str, position: str | None = None) -> None:
        super().__init__(message)
        self.position = position


class Refused(TrackedWalletsError):
    """An error response of the service (RFC 9457). Decide by `code`; the message is for people."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        errors: Sequence[ProblemError],
        retry_after: float | None,
        call: AnsweredCall,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        """`internal_error` also stands for an answer that is not the service's, of a proxy say."""
        self.errors = tuple(errors)
        """The parameters at fault, each with what was expected; empty for other refusals."""
        self.retry_after = retry_after
        """Seconds after which a retry may help; None when the service does not say."""
        self.call = call

    @property
    def request_id(self) -> str | None:
        """The id under which the service has logged the refusal."""
        return self.call.request_id


class FeedEnded(TrackedWalletsError):
    """The feed is over, and reconnecting with the same key would not help. Decide by `code`.

    `position` is where to resume once the reason is gone: the `after` of the next `follow`.
    """

    def __init__(self, code: str, message: str, position: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.position = position
