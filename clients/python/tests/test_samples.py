"""The samples of the service's documents run as they are, but for the mint."""

import subprocess
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tracked_wallets import TrackedWallets

from .conftest import Service

REPORTED = r"""set -e
curl() { command curl -fsS -o /dev/null -w '%{http_code} %{url_effective}\n' "$@"; }
"""
"""Makes curl print status and URL, and fail on a refusal."""


@pytest.fixture
def samples(service: Service, monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, str]]:
    """Each sample by its language and the path that it calls. Their key is in the environment."""
    monkeypatch.setenv("KEY", service.api_key)
    document = httpx.get(f"{service.url}/openapi.json").json()
    with TrackedWallets(service.url, service.api_key) as client:
        mint = client.trades(limit=1).items[0].mint
    found: dict[str, dict[str, str]] = {}
    for path, operations in document["paths"].items():
        operation = operations.get("get", {})
        called = path.replace("{alias}", "W1").replace("{mint}", mint)
        examples = {one["name"]: one.get("example") for one in operation.get("parameters", [])}
        for sample in operation.get("x-codeSamples", []):
            source = sample["source"].replace(examples.get("mint") or mint, mint)
            found.setdefault(sample["lang"], {})[called] = source
    return found


def test_each_sample_in_python_calls_its_operation(
    samples: dict[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, str]] = []
    send = httpx.Client.send

    def sent(client: httpx.Client, request: httpx.Request, **options: Any) -> httpx.Response:
        response = send(client, request, **options)
        asked.append((response.status_code, request.url.path))
        return response

    monkeypatch.setattr(httpx.Client, "send", sent)
    for source in samples["Python"].values():
        exec(source, {})  # noqa: S102
    assert asked == [(200, path) for path in samples["Python"]]


def test_each_sample_with_curl_calls_its_operation(samples: dict[str, dict[str, str]]) -> None:
    script = REPORTED + "\n".join(samples["Shell"].values())
    told = subprocess.run(
        ["/bin/sh", "-c", script], check=True, capture_output=True, text=True
    ).stdout
    asked = [line.split(" ", 1) for line in told.splitlines()]
    assert [(status, urlsplit(url).path) for status, url in asked] == [
        ("200", path) for path in samples["Shell"]
    ]
    assert samples["Shell"].keys() == samples["Python"].keys()
