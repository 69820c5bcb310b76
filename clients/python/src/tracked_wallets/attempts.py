"""How a call is sent, repeated and read: decisions without input or output."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx
from pydantic import ValidationError

from .calls import Call
from .errors import Refused, UnexpectedAnswer, Unreachable
from .model import Answer, AnsweredCall
from .models import ProblemError

T = TypeVar("T", bound=Answer)
LONGEST_WAIT_SECONDS = 30.0
"""The longest wait that `Retry-After` of a 503 may ask for."""
HTTP_REPEATED = (408, 503)
"""Refusals that say nothing about the call: it came too slowly, or nothing can be served now."""


@dataclass(frozen=True)
class Options:
    """How a client connects and repeats."""

    url: str
    api_key: str = field(repr=False)
    timeout: float
    """Longest time without progress of one attempt, in seconds."""
    retries: int
    retry_seconds: float
    on_answer: Callable[[AnsweredCall], None] | None

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise ValueError("url: expected one that begins with http:// or https://")

    @property
    def base_url(self) -> str:
        return self.url.rstrip("/")

    @property
    def feed_url(self) -> str:
        return f"ws{self.base_url.removeprefix('http')}/ws"

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.api_key}"}


def pause_before(attempt: int, options: Options, error: Exception) -> float | None:
    """Seconds to wait after attempt number `attempt` (from 0); None when it was the last one."""
    isolated = isinstance(error, Refused) and error.status not in HTTP_REPEATED
    if isolated or attempt >= options.retries:
        return None
    asked = error.retry_after or 0 if isinstance(error, Refused) else 0
    wait = max(asked, options.retry_seconds * 2**attempt)
    return float(min(LONGEST_WAIT_SECONDS, wait) * random.uniform(0.75, 1.25))


def answer_of(call: Call[T], response: httpx.Response, options: Options) -> T:
    """The answer in a response. Raises `Refused` or `UnexpectedAnswer`."""
    answered = answered_call(response)
    if options.on_answer is not None:
        options.on_answer(answered)
    if not response.is_success:
        raise refusal(response, answered)
    try:
        fields = {name: response.headers.get(header, "") for name, header in call.headers.items()}
        answer = call.answer.model_validate({**response.json(), **fields})
    except (ValidationError, ValueError, TypeError) as error:
        raise UnexpectedAnswer(f"{call.path}: an answer of another form") from error
    answer._call = answered
    return answer


def answered_call(response: httpx.Response) -> AnsweredCall:
    """What the header of a response says."""
    headers = response.headers
    unknown = headers.get("x-unknown-parameters")
    return AnsweredCall(
        path=response.request.url.raw_path.decode("ascii"),
        cost=whole(headers.get("x-credits-cost")) or 0,
        balance=whole(headers.get("x-credits-remaining")),
        request_id=headers.get("x-request-id"),
        unknown_parameters=tuple(unknown.split(", ")) if unknown else (),
    )


def whole(text: str | None) -> int | None:
    """A number of a header; None for none."""
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


def refusal(response: httpx.Response, answered: AnsweredCall) -> Refused:
    """The refusal in a response, whoever sent it."""
    problem = problem_in(response)
    errors = faults_in(problem)
    title = str(problem.get("title") or response.reason_phrase)
    faults = "; ".join(f"{fault.name}: {fault.message}" for fault in errors)
    return Refused(
        f"{title} {faults}".rstrip(),
        status=response.status_code,
        code=str(problem.get("code") or "internal_error"),
        errors=errors,
        retry_after=whole(response.headers.get("retry-after")),
        call=answered,
    )


def problem_in(response: httpx.Response) -> dict[str, Any]:
    """The problem document of a response; empty for any other text."""
    try:
        problem = response.json()
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}


def faults_in(problem: dict[str, Any]) -> list[ProblemError]:
    """The parameters at fault that a problem document names."""
    try:
        return [ProblemError.model_validate(fault) for fault in problem.get("errors", [])]
    except (ValidationError, TypeError):
        return []


def unreachable(error: httpx.TransportError) -> Unreachable:
    """The error for a service that did not answer. It names no address and no key."""
    return Unreachable(f"the service could not be reached: {type(error).__name__}")
