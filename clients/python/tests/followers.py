"""Both clients' feeds as one function that is given each event."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

from tracked_wallets import AsyncTrackedWallets, FeedEvent, TrackedWallets

Handle = Callable[[FeedEvent], bool]
"""Takes an event; False ends the iteration."""
Follow = Callable[..., None]
"""`follow(url, key, handle, **options)`: follows until `handle` says False, or an error."""


def follow_blocking(url: str, api_key: str, handle: Handle, **options: Any) -> None:
    with TrackedWallets(url, api_key) as client:
        for event in client.follow(**options):
            if not handle(event):
                return


def follow_with_asyncio(url: str, api_key: str, handle: Handle, **options: Any) -> None:
    async def followed() -> None:
        async with (
            AsyncTrackedWallets(url, api_key) as client,
            aclosing(client.follow(**options)) as feed,
        ):
            async for event in feed:
                # In a thread, as `handle` may restart the service.
                if not await asyncio.to_thread(handle, event):
                    return

    asyncio.run(followed())
