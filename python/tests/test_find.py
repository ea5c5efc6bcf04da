"""Where the program is looked for, and what is said when it is not there."""

import os
import sys
import unittest

import larva

from .support import Fake


class TestFind(Fake):
    def fails(self, client: larva.Client) -> larva.LarvaProcessError:
        with self.assertRaises(larva.LarvaProcessError) as caught:
            client.list()
        self.assertEqual((caught.exception.code, caught.exception.numeric_code), ("INTERNAL", 10))
        self.assertNotIn("outcome", caught.exception.details)
        return caught.exception

    def test_larva_bin_before_path(self) -> None:
        env = self.fake_env(LARVA_BIN=str(self.binary), PATH="/nowhere")
        with larva.Client(env=env) as client:
            self.assertIn("pid", client.variant_list("a"))
        self.assertEqual(self.said()[:2], ["start mcp", "protocol 2025-11-25"])

    def test_path(self) -> None:
        env = self.fake_env(PATH=str(self.dir) + os.pathsep + "/usr/bin:/bin")
        env.pop("LARVA_BIN", None)
        with larva.Client(env=env) as client:
            self.assertIn("pid", client.variant_list("a"))

    def test_nowhere(self) -> None:
        env = self.fake_env(PATH="/nowhere")
        env.pop("LARVA_BIN", None)
        self.assertIn("set LARVA_BIN", str(self.fails(larva.Client(env=env))))

    def test_larva_bin_is_taken_at_its_word(self) -> None:
        env = self.fake_env(LARVA_BIN=str(self.dir / "gone"), PATH=str(self.dir))
        self.assertIn("LARVA_BIN names it", str(self.fails(larva.Client(env=env))))

    def test_not_a_program(self) -> None:
        text = self.dir / "text"
        text.write_text("hello")
        text.chmod(0o600)
        self.assertIn("was given as binary", str(self.fails(larva.Client(str(text), env=self.fake_env()))))
        text.chmod(0o700)
        self.assertIn("cannot start", str(self.fails(larva.Client(str(text), env=self.fake_env()))))

    def test_ends_at_once(self) -> None:
        false = self.dir / "false"
        false.write_text("#!/bin/sh\necho 'larva: no such command: mcp' >&2\nexit 2\n")
        false.chmod(0o700)
        error = self.fails(larva.Client(str(false), env=self.fake_env()))
        self.assertIn("ended with status 2: larva: no such command: mcp", error.message)

    def test_mute(self) -> None:
        client = larva.Client(str(self.binary), env=self.fake_env(FAKE="mute"), timeout=0.5)
        with self.assertRaises(larva.LarvaTimeoutError) as caught:
            client.register({})
        self.assertNotIn("outcome", caught.exception.details)
        self.assertIsInstance(caught.exception, TimeoutError)


if sys.platform == "win32":
    del TestFind
