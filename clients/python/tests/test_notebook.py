"""Runs the notebook of `examples/`, and compares it with what the service answered."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import nbformat
import pytest
from nbclient import NotebookClient

from .conftest import Service
from .local_server import serving

NOTEBOOK = Path(__file__).parents[3] / "examples" / "equity-curve.ipynb"
PNG = b"\x89PNG\r\n\x1a\n"
FIGURES = """
import json
columns = [pl.col("time").dt.epoch("s"), *FIGURES]
print(json.dumps([one.select(columns).to_dicts() for one in (curve, strict)]))
"""


@contextmanager
def recording(service: Service) -> Iterator[tuple[str, list[httpx.Response]]]:
    """A server that passes calls on. Yields its URL, and the answers of the service so far."""
    answers: list[httpx.Response] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            sent = {"authorization": self.headers["authorization"]}
            answer = httpx.get(service.url + self.path, headers=sent, timeout=60)
            answers.append(answer)
            self.send_response(answer.status_code)
            for name, value in answer.headers.items():
                if name.startswith(("x-", "content-type")):
                    self.send_header(name, value)
            self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is logged."""

    with serving(Handler) as url:
        yield url, answers


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Folders that Jupyter and matplotlib write to."""
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "MPLCONFIGDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))


@pytest.mark.usefixtures("home")
def test_the_notebook_draws_what_the_service_answers(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(FIGURES))
    with recording(service) as (url, answers):
        monkeypatch.setenv("TRACKED_WALLETS_URL", url)
        monkeypatch.setenv("TRACKED_WALLETS_API_KEY", service.api_key)
        NotebookClient(notebook, kernel_name="python3", startup_timeout=180, timeout=120).execute()

    *_, cost, figures = [printed(cell) for cell in notebook.cells if cell.cell_type == "code"]
    drawn = json.loads(figures)
    last = {mode: curve[-1] for mode, curve in zip(("raw", "strict"), drawn, strict=True)}
    assert last == {
        parse_qs(urlsplit(str(answer.url)).query)["mode"][0]: {
            name: answer.json()["items"][-1][name] for name in drawn[0][-1]
        }
        for answer in answers
        if answer.url.path.endswith("/pnl")
    }
    assert any(point["total_sol"] != 0 for point in drawn[0])
    charts = [
        base64.b64decode(output.data["image/png"])
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    assert [chart[: len(PNG)] for chart in charts] == [PNG] * 3

    used = sum(int(answer.headers["x-credits-cost"]) for answer in answers)
    left = answers[-1].headers["x-credits-remaining"]
    assert cost.splitlines()[-1] == f"{used} credits used, {left} left"
    assert service.api_key not in nbformat.writes(notebook)


def printed(cell: Any) -> str:
    """What a cell has printed."""
    return "".join(one.text for one in cell.outputs if one.output_type == "stream")


def test_the_notebook_is_committed_without_outputs() -> None:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [(cell["outputs"], cell["execution_count"]) for cell in code] == [([], None)] * len(code)
