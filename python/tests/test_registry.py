"""The fourteen functions against a real larva."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, Tuple

import larva
from larva.shell import python_api

from .support import HERE, Scratch, environment, persona
from .support import larva as binary


class Registry(Scratch):
    """Tests that share one child, which takes longer to start than a test; each
    begins with an empty registry."""

    client: larva.Client

    @classmethod
    def setUpClass(cls) -> None:
        cls.home = tempfile.TemporaryDirectory()
        cls.client = larva.Client(binary(), env=cls.home_env())

    @classmethod
    def tearDownClass(cls) -> None:
        cls.client.close()
        cls.home.cleanup()

    @classmethod
    def home_env(cls) -> Dict[str, str]:
        return environment(cls.home.name)

    def setUp(self) -> None:
        super().setUp()
        self.client.clear(confirm="CLEAR REGISTRY")

    def fails(self, call: Any) -> Tuple[str, int, Dict[str, Any]]:
        with self.assertRaises(larva.LarvaApiError) as caught:
            call()
        e = caught.exception
        self.assertTrue(e.message)
        self.assertTrue(str(e).startswith(f"{e.code}: {e.message}"))
        return e.code, e.numeric_code, e.details


class TestOperations(Registry):
    def test_a_persona_s_life(self) -> None:
        c = self.client
        self.assertEqual(c.list(), [])
        self.assertEqual(c.register(persona("kelp")), {"id": "kelp", "registered": True})
        self.assertEqual(c.register(persona("kelp", prompt="Be terse."), "terse"), {"id": "kelp", "registered": True})
        self.assertEqual(c.variant_list("kelp"), {"id": "kelp", "active": "default", "variants": ["default", "terse"]})
        self.assertEqual(c.variant_activate("kelp", "terse"), {"id": "kelp", "active": "terse"})
        self.assertEqual(c.resolve("kelp")["prompt"], "Be terse.")
        self.assertEqual(c.resolve("kelp", variant="default")["prompt"], "You look after it.")
        self.assertEqual(c.resolve("kelp", {"model": "acme/other"})["model"], "acme/other")
        self.assertEqual(c.update("kelp", {"prompt": "Be kind."})["prompt"], "Be kind.")
        self.assertEqual(c.update("kelp", {"prompt": "Be kinder."}, "default")["prompt"], "Be kinder.")
        self.assertEqual(c.update("kelp", {"capabilities.git": "none"})["capabilities"], {"git": "none", "shell": "read_only"})
        self.assertEqual(c.clone("kelp", "moss")["id"], "moss")
        self.assertEqual(
            c.update_batch({"id": "moss"}, {"description": "Looks after moss, in the shade."}),
            {"items": [{"id": "moss", "updated": True}], "matched": 1, "updated": 1},
        )
        self.assertEqual(c.update_batch({}, {"prompt": "No."}, dry_run=True)["updated"], 0)
        self.assertEqual([p["id"] for p in c.list()], ["kelp", "moss"])
        self.assertEqual({*c.list()[0]}, {"id", "description", "spec_digest", "model", "capabilities"})
        self.assertEqual(c.export_all(), [c.resolve("kelp"), c.resolve("moss")])
        self.assertEqual([p["id"] for p in c.export_ids(("moss", "kelp", "moss"))], ["moss", "kelp", "moss"])
        self.assertEqual(c.export_ids([]), [])
        self.assertEqual(c.variant_delete("kelp", "default"), {"id": "kelp", "variant": "default", "deleted": True})
        self.assertEqual(c.delete("moss"), {"id": "moss", "deleted": True})
        self.assertEqual(c.clear(confirm="CLEAR REGISTRY"), 1)
        self.assertEqual(c.clear(confirm="CLEAR REGISTRY"), 0)

    def test_validate_reports(self) -> None:
        self.assertEqual(self.client.validate(persona("kelp")), {"valid": True, "errors": [], "warnings": []})
        report = self.client.validate({"id": 7, "variant": "x"})
        self.assertFalse(report["valid"])
        self.assertIn("EXTRA_FIELD_NOT_ALLOWED", [e["code"] for e in report["errors"]])

    def test_errors(self) -> None:
        c = self.client
        self.assertEqual(self.fails(lambda: c.resolve("ghost")), ("PERSONA_NOT_FOUND", 100, {"persona_id": "ghost"}))
        self.assertEqual(self.fails(lambda: c.resolve("No")), ("INVALID_PERSONA_ID", 104, {"persona_id": "No"}))
        self.assertEqual(self.fails(lambda: c.clear(confirm="yes"))[:2], ("INVALID_CONFIRMATION_TOKEN", 112))
        self.assertEqual(self.fails(lambda: c.export_ids("kelp"))[:2], ("INVALID_INPUT", 1))
        self.assertEqual(self.fails(lambda: c.resolve(7))[:2], ("INVALID_INPUT", 1))  # type: ignore[arg-type]
        code, number, details = self.fails(lambda: c.register({"id": "kelp"}))
        self.assertEqual((code, number), ("PERSONA_INVALID", 101))
        self.assertEqual({e["code"] for e in details["report"]["errors"]}, {"MISSING_REQUIRED_FIELD"})

    def test_str_lists_all_issues(self) -> None:
        with self.assertRaises(larva.LarvaApiError) as caught:
            self.client.register({"id": "kelp"})
        self.assertEqual(len(str(caught.exception).splitlines()), 1 + 5)

    def test_clear_wants_its_keyword(self) -> None:
        with self.assertRaises(TypeError):
            self.client.clear("CLEAR REGISTRY")  # type: ignore[misc]
        with self.assertRaises(TypeError):
            self.client.clear()  # type: ignore[call-arg]

    def test_numbers_keep_their_form(self) -> None:
        numbers = {
            "a": 1,
            "b": 1.0,
            "c": -0.0,
            "d": 10**63,
            "e": -(2**64) - 1,
            "f": 1e16,
            "g": 5e-324,
            "h": 0.1,
            "i": True,
            "j": [1, 1.0],
            "k": 1.7976931348623157e308,
        }
        self.client.register(persona("kelp", model_params=numbers))
        got = self.client.resolve("kelp")["model_params"]
        self.assertEqual(repr(sorted(got.items())), repr(sorted(numbers.items())))
        one, other = (self.client.resolve("kelp", {"model_params": {"a": x}})["spec_digest"] for x in (1, 1.0))
        self.assertNotEqual(one, other)

    def test_numbers_beyond_larva(self) -> None:
        for number in (10**64, 10**5000):
            code, _, _ = self.fails(lambda: self.client.register(persona("kelp", model_params={"a": number})))
            self.assertEqual(code, "INVALID_INPUT")
        self.assertEqual(self.client.list(), [])

    def test_text_passes_unharmed(self) -> None:
        for text in ("snow \u2603 \U0001f30a", 'a"b\\c\nd\te\x7f', "a\u2028\u2029b", "a\x00\x1fb", "x" * 200_000):
            self.client.register(persona("kelp", prompt=text))
            self.assertEqual(self.client.resolve("kelp")["prompt"], text)

    def test_many_threads(self) -> None:
        def work(i: int) -> str:
            self.client.register(persona(f"p-{i}", model_params={"n": i}))
            return self.client.resolve(f"p-{i}")["model_params"]["n"]

        with ThreadPoolExecutor(16) as pool:
            self.assertEqual([*pool.map(work, range(40))], [*range(40)])
        self.assertEqual(len(self.client.list()), 40)

    def test_killed_between_calls(self) -> None:
        self.client.register(persona("kelp"))
        child = self.client._child
        assert child is not None
        os.kill(child.pid, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
        child._process.wait(20)
        self.assertEqual(self.client.delete("kelp"), {"id": "kelp", "deleted": True})

    def test_a_change_by_another_is_seen(self) -> None:
        with larva.Client(binary(), env=self.home_env()) as other:
            self.assertEqual(self.client.list(), [])
            other.register(persona("kelp"))
            self.assertEqual([p["id"] for p in self.client.list()], ["kelp"])

    def test_nested(self) -> None:
        self.client.register(persona("kelp"))
        env = self.home_env()
        env["LARVA_DEPTH"] = "1"
        with larva.Client(binary(), env=env) as inside:
            self.assertEqual(inside.resolve("kelp")["id"], "kelp")
            self.assertEqual(self.fails(lambda: inside.delete("kelp"))[:2], ("NESTED", 127))


class TestModule(Scratch):
    """The functions of the module, in a process of their own."""

    def script(self, text: str) -> Any:
        env = self.env(LARVA_BIN=binary(), PYTHONPATH=str(HERE.parent))
        done = subprocess.run([sys.executable, "-W", "error", "-c", text], env=env, capture_output=True, timeout=60)
        self.assertEqual(done.stderr.decode(), "")
        self.assertEqual(done.returncode, 0)
        return json.loads(done.stdout)

    def test_both_names(self) -> None:
        got = self.script(
            "import json, larva\n"
            "from larva.shell.python_api import list, register, clear\n"
            f"register({persona('kelp')!r})\n"
            "print(json.dumps([len(list()), len(larva.list()), clear(confirm='CLEAR REGISTRY')]))\n"
        )
        self.assertEqual(got, [1, 1, 1])

    def test_same_functions(self) -> None:
        for name in ("list", "clear", "resolve", "LarvaApiError"):
            self.assertIs(getattr(python_api, name), getattr(larva, name))

    def test_multiprocessing(self) -> None:
        got = self.script(
            "import json, warnings, larva, multiprocessing as mp\n"
            "def work(i):\n"
            "    larva.update('kelp', {'model_params.n%d' % i: i})\n"
            "    return len(larva.list())\n"
            "if __name__ == '__main__':\n"
            f"    larva.register({persona('kelp')!r})\n"
            "    warnings.simplefilter('ignore', DeprecationWarning)\n"
            "    with mp.get_context('fork' if hasattr(__import__('os'), 'fork') else 'spawn').Pool(2) as pool:\n"
            "        lens = pool.map(work, range(4))\n"
            "    print(json.dumps([lens, len(larva.resolve('kelp')['model_params'])]))\n"
        )
        self.assertEqual(got, [[1] * 4, 4])


if __name__ == "__main__":
    unittest.main()
