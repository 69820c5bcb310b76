"""The service that the tests call. `clients/check.sh` starts it, and tells where it is."""

import asyncio
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tracked_wallets import AsyncTrackedWallets, TrackedWallets

SERVICE = Path(__file__).parents[2] / "service.sh"


@dataclass(frozen=True)
class Service:
    """A running service with the simulated market, and a key with credits."""

    folder: str
    url: str
    api_key: str

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def restart(self) -> None:
        """Stops it and starts it again, with the same data and port."""
        for action in ("stop", "start"):
            subprocess.run([SERVICE, action, self.folder], check=True, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="session")
def service() -> Service:
    told = {name: os.environ[f"CLIENTS_{name}"] for name in ("FOLDER", "URL", "KEY")}
    return Service(told["FOLDER"], told["URL"], told["KEY"])


Ask = Callable[..., Any]
"""`ask(method, *args, **query)`: the answer of a client's method; a list for an iteration."""


def blocking(closing: ExitStack, url: str, api_key: str, **options: Any) -> Ask:
    """Asks with the client for programs without asyncio."""
    client = closing.enter_context(TrackedWallets(url, api_key, **options))

    def ask(method: str, *args: Any, **query: Any) -> Any:
        found = getattr(client, method)(*args, **query)
        return list(found) if method.startswith("each_") else found

    return ask


def with_asyncio(closing: ExitStack, url: str, api_key: str, **options: Any) -> Ask:
    """Asks with the client for asyncio."""
    loop = closing.enter_context(asyncio.Runner())
    client = AsyncTrackedWallets(url, api_key, **options)
    closing.callback(lambda: loop.run(client.aclose()))

    async def asked(method: str, *args: Any, **query: Any) -> Any:
        found = getattr(client, method)(*args, **query)
        return [one async for one in found] if method.startswith("each_") else await found

    return lambda *args, **query: loop.run(asked(*args, **query))


Asker = Callable[..., Ask]
"""`asker(url, api_key, **options)` makes one of a client."""


@pytest.fixture(params=[blocking, with_asyncio], ids=["blocking", "asyncio"])
def asker(request: pytest.FixtureRequest) -> Iterator[Asker]:
    """Each client in turn."""
    with ExitStack() as closing:
        yield partial(request.param, closing)


@pytest.fixture
def rest(service: Service) -> Iterator[Ask]:
    """The client for programs without asyncio alone."""
    with ExitStack() as closing:
        yield blocking(closing, service.url, service.api_key)


@pytest.fixture
def ask(asker: Asker, service: Service) -> Ask:
    return asker(service.url, service.api_key)
