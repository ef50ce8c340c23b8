"""Exports do not depend on the hash seed of the process."""

import os
import subprocess
import sys

SCRIPT = """
import hashlib
from export import format_names
from tests.unit.export.export_sample import tiny
from tests.unit.export.test_formats import readable
for name in format_names():
    print(name, hashlib.sha256(readable(name, tiny()).encode()).hexdigest())
"""


def said(root, seed: str) -> str:
    env = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=root,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_every_format_is_the_same_under_two_hash_seeds(root):
    one = said(root, "1")
    assert one.count("\n") >= 13
    assert one == said(root, "2")
