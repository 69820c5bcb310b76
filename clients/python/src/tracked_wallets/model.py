"""What all answers of the service have in common."""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, PrivateAttr


class Model(BaseModel):
    """An object of an answer. It cannot be changed. Fields that it does not know are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)


@dataclass(frozen=True)
class AnsweredCall:
    """What an answer has cost, and what else its header says."""

    path: str
    """Path and query."""
    cost: int
    """Credits charged; 0 for refusals and free resources."""
    balance: int | None
    """Credits left afterwards; None if the service does not say."""
    request_id: str | None
    unknown_parameters: tuple[str, ...]
    """Names of parameters that the resource does not know."""


class Answer(Model):
    """A whole answer. `call` has what it cost."""

    _call: AnsweredCall | None = PrivateAttr(default=None)

    @property
    def call(self) -> AnsweredCall:
        """What this answer cost. Raises `AttributeError` if it did not come from a client."""
        if self._call is None:
            raise AttributeError("only an answer that a client has read has a call")
        return self._call
