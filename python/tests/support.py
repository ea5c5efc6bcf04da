"""What the tests share: homes, a persona, the real larva and a false one."""

from __future__ import annotations

import os
import shlex
import stat
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent / "larva"


def larva() -> str:
    """The program under test; LARVA_BIN names it."""
    found = os.environ.get("LARVA_BIN", "")
    if not found:
        raise unittest.SkipTest("LARVA_BIN does not name a larva")
    return found


def persona(id: str, **fields: Any) -> Dict[str, Any]:
    spec: Dict[str, Any] = {
        "id": id,
        "description": "Looks after one thing, with care and patience.",
        "prompt": "You look after it.",
        "model": "acme/gamma-2",
        "capabilities": {"shell": "read_only"},
        "spec_version": "0.1.0",
    }
    spec.update(fields)
    return spec


def environment(home: str, **more: str) -> Dict[str, str]:
    """This process's environment with another home and nothing else of larva's."""
    env = dict(os.environ, HOME=home, USERPROFILE=home, **more)
    for name in ("LARVA_HOME", "LARVA_DEPTH"):
        env.pop(name, None)
    return env


class Scratch(unittest.TestCase):
    """A test with a directory of its own and environments made from it."""

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = Path(scratch.name)

    def env(self, **more: str) -> Dict[str, str]:
        """This process's environment with a fresh home."""
        return environment(str(self.dir), **more)


class Fake(Scratch):
    """A test against tests/fake.py, whose behaviour the environment sets."""

    def setUp(self) -> None:
        super().setUp()
        if sys.platform == "win32":
            self.skipTest("the false larva is a script with a shebang")
        self.binary = self.dir / "larva"
        self.binary.write_text(
            "#!/bin/sh\nexec " + shlex.join([sys.executable, "-S", "-E", str(HERE / "fake.py")]) + ' "$@"\n'
        )
        self.binary.chmod(stat.S_IRWXU)
        self.log = self.dir / "log"

    def fake_env(self, **more: str) -> Dict[str, str]:
        return self.env(FAKE_DIR=str(self.dir), **more)

    def said(self) -> List[str]:
        """What the false larva has noted, a line each."""
        return self.log.read_text().splitlines() if self.log.exists() else []
