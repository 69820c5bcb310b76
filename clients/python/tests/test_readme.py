"""Runs the samples of the README as programs."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import httpx

from .conftest import Service
from .test_feed_messages import sent
from .test_webhooks import RETRACTED, SECRET, body_of, signed

README = Path(__file__).parents[1] / "README.md"
OPENED = """import os
from tracked_wallets import TrackedWallets
service = TrackedWallets("http://127.0.0.1:8080", os.environ["KEY"])
"""


def test_samples_of_the_readme_run(service: Service) -> None:
    environment = {**os.environ, "KEY": service.api_key, "PYTHONUNBUFFERED": "1"}
    first, lists, choice, feed, _ = (
        [sys.executable, "-c", text.replace("http://127.0.0.1:8080", service.url)]
        for text in samples()
    )

    printed = subprocess.check_output(first, env=environment, text=True).splitlines()
    assert [re.match(r"W\d+ (buy|sell) ", line) is not None for line in printed[:-1]] == [True] * 5
    assert re.fullmatch(r"3 \d+", printed[-1])

    printed = subprocess.check_output(lists, env=environment, text=True).splitlines()
    assert all("wallet='W1' side='buy'" in line for line in printed)

    printed = subprocess.check_output(choice, env=environment, text=True).splitlines()
    assert all(re.match(r"W\d+ -?[\d.]+ ", line) for line in printed)

    with subprocess.Popen(feed, env=environment, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        line = program.stdout.readline()
        program.terminate()
    assert re.match(r"\S+ block_time=\d+ wallet='W[12]' ", line)


def test_the_receiver_of_the_readme_prints_each_event_once() -> None:
    *_, text = samples()
    serving = "server = ThreadingHTTPServer(('127.0.0.1', 0), Receiver)\n"
    serving += "print(server.server_port, flush=True)\nserver.serve_forever()"
    program = text.replace('ThreadingHTTPServer(("", 8000), Receiver).serve_forever()', serving)
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "SECRET": SECRET},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as receiver:
        assert receiver.stdout is not None
        url = f"http://127.0.0.1:{receiver.stdout.readline().strip()}"
        deliveries = [
            body_of("trades", [sent("a")]),
            body_of("trades", [sent("a"), RETRACTED, RETRACTED, sent("b")]),
            body_of("test", []),
        ]
        now = int(time.time())
        statuses = [
            httpx.post(url, content=body, headers=signed(body, at=now)).status_code
            for body in deliveries
        ]
        forged = httpx.post(url, content=deliveries[0], headers=signed(b"other", at=now))
        printed = [receiver.stdout.readline().split()[0] for _ in range(3)]
        receiver.terminate()
    assert (statuses, forged.status_code) == ([204, 204, 204], 400)
    assert printed == ["trade", "retracted", "trade"]


def samples() -> list[str]:
    """The samples as whole programs. Two go on where the first has made a client."""
    first, lists, choice, *others = re.findall(
        r"^```python\n(.*?)^```$", README.read_text(), re.M | re.S
    )
    return [first, OPENED + lists, OPENED + choice, *others]
