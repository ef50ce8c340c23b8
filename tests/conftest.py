"""What every test may ask for: a fixed moment, an empty home, the shared corpora."""

import os
import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "ci",
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("deep", max_examples=5000, deadline=None)
settings.load_profile(os.environ.get("CLEW_HYPOTHESIS", "ci" if os.environ.get("CI") else "dev"))

ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared"
KEPT = ("CLEW_HYPOTHESIS", "CLEW_CHROMIUM", "CLEW_STORE__ENGINE")


def pytest_addoption(parser):
    parser.addoption("--engine", default="kuzu", choices=["kuzu", "ladybug"])


def pytest_configure(config):
    """Every store that a test opens, here or in a process of its own, has this engine."""
    chosen = config.getoption("--engine")
    if chosen != "kuzu":
        from graphstore.engine import Engine
        from graphstore.store import open_store

        for opens, name in ((open_store, "engine"), (Engine.__init__, "name")):
            opens.__kwdefaults__ = {**(opens.__kwdefaults__ or {}), name: chosen}
        os.environ["CLEW_STORE__ENGINE"] = chosen


@pytest.fixture(autouse=True)
def bare_surroundings(tmp_path, monkeypatch):
    """No setting of this machine reaches a test, and no home folder of it is touched."""
    for name in list(os.environ):
        if name.startswith(("CLEW_", "OPENAI_")) and name not in KEPT:
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))


@pytest.fixture(autouse=True)
def no_network(request, monkeypatch):
    """Only end-to-end tests may open a socket beyond the loopback-free local kind."""
    if "e2e" in Path(str(request.node.path)).parts:
        return
    connect = socket.socket.connect

    def refuse(self, address):
        if self.family == socket.AF_UNIX:
            return connect(self, address)
        raise RuntimeError("a test tried to open a network connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture
def now():
    return datetime(2026, 1, 15, 12, tzinfo=UTC)


@pytest.fixture
def engine(request):
    return request.config.getoption("--engine")


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def shared():
    """The folder of shared real conversations; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the shared conversations are not on this machine")
    return SHARED
