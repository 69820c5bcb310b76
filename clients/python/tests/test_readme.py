"""Runs the samples of the README as programs."""

import os
import re
import subprocess
import sys
from pathlib import Path

from .conftest import Service

README = Path(__file__).parents[1] / "README.md"
OPENED = """import os
from tracked_wallets import TrackedWallets
service = TrackedWallets("http://127.0.0.1:8080", os.environ["KEY"])
"""


def test_samples_of_the_readme_run(service: Service) -> None:
    environment = {**os.environ, "KEY": service.api_key, "PYTHONUNBUFFERED": "1"}
    first, lists, feed = (
        [sys.executable, "-c", text.replace("http://127.0.0.1:8080", service.url)]
        for text in samples()
    )

    printed = subprocess.check_output(first, env=environment, text=True).splitlines()
    assert [re.match(r"W\d+ (buy|sell) ", line) is not None for line in printed[:-1]] == [True] * 5
    assert re.fullmatch(r"3 \d+", printed[-1])

    printed = subprocess.check_output(lists, env=environment, text=True).splitlines()
    assert all("wallet='W1' side='buy'" in line for line in printed)

    with subprocess.Popen(feed, env=environment, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        line = program.stdout.readline()
        program.terminate()
    assert re.match(r"\S+ block_time=\d+ wallet='W[12]' ", line)


def samples() -> list[str]:
    """The samples as whole programs. The second goes on where the first has made a client."""
    first, lists, feed = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.M | re.S)
    return [first, OPENED + lists, feed]
