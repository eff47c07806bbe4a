"""Every piece of code in README.md, run as it stands there."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from .shop import order, till
from .snippets import write


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write(tmp_path_factory.mktemp("readme"))


def run(piece: Path) -> str:
    return subprocess.run([sys.executable, str(piece)], check=True, capture_output=True, text=True, timeout=60).stdout


def test_there_is_a_test_for_each_piece(pieces: list[Path]) -> None:
    assert len(pieces) == 5


def test_the_first_makes_an_invoice(pieces: list[Path]) -> None:
    assert re.search("/checkout/i/inv_", run(pieces[0]))


def test_the_second_takes_a_webhook(pieces: list[Path]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "--app-dir", str(pieces[1].parent), "--port", str(port), "snippet_2:app"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as shop:
        try:
            assert shop.stdout is not None and shop.stderr is not None
            assert any("running on" in line for line in shop.stderr)
            address = f"http://127.0.0.1:{port}/webhooks"
            assert httpx.post(address, content="{}").status_code == 400
            till.merchant.update_settings(webhook_url=address)
            invoice = order()
            till.test_helpers.simulate_payment(invoice.id)
            assert any(line == f"{invoice.id} is paid\n" for line in shop.stdout)
        finally:
            till.merchant.update_settings(webhook_url=None)
            shop.terminate()


def test_the_others_list_branch_on_a_code_and_follow_an_invoice(pieces: list[Path]) -> None:
    assert re.search(r"^inv_\w+ awaiting_payment$", run(pieces[2]), re.MULTILINE)
    assert "it was paid meanwhile" in run(pieces[3])
    assert run(pieces[4]).endswith("paid\n")
