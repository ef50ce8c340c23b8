"""The installed command in a process of its own, with surroundings of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CLEW = str(Path(sys.executable).parent / "clew")


@dataclass(frozen=True)
class Installed:
    """``clew`` for one home folder."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "workspaces"

    @property
    def workspace(self) -> Path:
        return self.home / "default"

    def environment(self, **more: str) -> dict[str, str]:
        """Nothing of this machine but the search path; no settings file of the user."""
        kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
        return {
            **kept,
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "XDG_DATA_HOME": str(self.folder / "data"),
            "CLEW_HOME": str(self.home),
            "COLUMNS": "80",
            "LC_ALL": "C.UTF-8",
            **more,
        }

    def start(self, *words: str, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start a command and return at once."""
        return subprocess.Popen(
            [CLEW, *words],
            env=self.environment(**(env or {})),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *words: str, **env: str) -> subprocess.CompletedProcess[bytes]:
        """Run a command to its end."""
        process = self.start(*words, env=env)
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def json(self, *words: str) -> Any:
        """What a command prints with ``--json``."""
        done = self.run(*words, "--json")
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)
