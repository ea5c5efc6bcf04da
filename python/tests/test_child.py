"""The life of the child: death, silence, floods, threads, forks and the end."""

import os
import signal
import subprocess
import sys
import threading
import time
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, List
from unittest import mock

import larva

from .support import HERE, Fake


def wait_for(ready: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + 20
    while not ready():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.005)


def gone(pid: int) -> bool:
    """Whether a process is no more, or nothing but its parent's to reap."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):  # gone, or there is no /proc here
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


class TestChild(Fake):
    def client(self, ways: str = "", timeout: float = 20.0) -> larva.Client:
        client = larva.Client(str(self.binary), env=self.fake_env(FAKE=ways), timeout=timeout)
        self.addCleanup(client.close)
        return client

    def pid(self, client: larva.Client) -> int:
        return client.variant_list("a")["pid"]  # type: ignore[typeddict-item]

    def calls(self) -> List[str]:
        return [line for line in self.said() if line.startswith("call")]

    def starts(self) -> int:
        return self.said().count("start mcp")

    def test_one_child_for_many_calls(self) -> None:
        client = self.client()
        self.assertEqual(len({self.pid(client) for _ in range(5)}), 1)
        self.assertEqual(self.starts(), 1)

    def test_started_again_when_it_died_idle(self) -> None:
        client = self.client()
        pid = self.pid(client)
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: gone(pid), "the end of the child")
        client.delete("a")  # a write: it never reached the dead child
        self.assertEqual(self.starts(), 2)
        self.assertEqual(self.calls(), ["call variant_list", "call delete"])

    def test_write_in_flight_is_not_repeated(self) -> None:
        client = self.client("die:delete")
        with self.assertRaises(larva.LarvaProcessError) as caught:
            client.delete("a")
        self.assertEqual(self.calls(), ["call delete"])
        error = caught.exception
        self.assertEqual(error.details["outcome"], "unknown")
        self.assertIn("status 3: larva: the sky is falling", error.message)
        self.pid(client)  # and the next call finds a child
        self.assertEqual(self.starts(), 2)

    def test_read_in_flight_is_repeated_once(self) -> None:
        client = self.client("once:variant_list")
        self.pid(client)
        self.assertEqual(self.calls(), ["call variant_list"] * 2)

    def test_read_is_not_repeated_for_ever(self) -> None:
        client = self.client("die:variant_list")
        with self.assertRaises(larva.LarvaProcessError) as caught:
            self.pid(client)
        self.assertEqual(self.calls(), ["call variant_list"] * 2)
        self.assertNotIn("outcome", caught.exception.details)

    def test_dry_run_is_a_read(self) -> None:
        client = self.client("once:update_batch")
        client.update_batch({}, {}, dry_run=True)
        self.assertEqual(self.calls(), ["call update_batch"] * 2)

    def test_others_in_flight_when_it_dies(self) -> None:
        client = self.client("hang:delete,once:clone")
        errors: List[larva.LarvaProcessError] = []

        def delete() -> None:
            with self.assertRaises(larva.LarvaProcessError) as caught:
                client.delete("a")
            errors.append(caught.exception)

        waiting = threading.Thread(target=delete)
        waiting.start()
        wait_for(lambda: "call delete" in self.said(), "the first call")
        with self.assertRaises(larva.LarvaProcessError):
            client.clone("a", "b")
        waiting.join(20)
        self.assertEqual([e.details.get("outcome") for e in errors], ["unknown"])

    def test_answers_out_of_order(self) -> None:
        client = self.client("pair")
        with ThreadPoolExecutor(8) as pool:
            ids = [f"p-{i}" for i in range(40)]
            got = [*pool.map(lambda id: client.resolve(id)["arguments"]["id"], ids)]  # type: ignore[typeddict-item]
        self.assertEqual(got, ids)
        self.assertEqual(self.starts(), 1)

    def test_timeout(self) -> None:
        client = self.client("hang:delete")
        pid = self.pid(client)
        client.timeout = 0.2
        with self.assertRaises(larva.LarvaTimeoutError) as caught:
            client.delete("a")
        self.assertEqual(caught.exception.details["outcome"], "unknown")
        client.timeout = 20
        self.assertEqual(self.pid(client), pid)  # it still answers, so it stays
        wait_for(lambda: "cancelled" in self.said(), "the note that nobody waits any more")

    def test_stopped_child_is_replaced(self) -> None:
        client = self.client("stop")
        client._running("variant_list", time.monotonic() + 20)
        client.timeout = 0.4
        with self.assertRaises(larva.LarvaTimeoutError):
            self.pid(client)
        client.timeout = 20
        with mock.patch("larva._client._PONG", 0.3):
            self.pid(client)
        self.assertEqual(self.starts(), 2)

    def test_child_that_reads_nothing(self) -> None:
        client = self.client("deaf")
        client._running("register", time.monotonic() + 20)
        client.timeout = 0.3
        with self.assertRaises(larva.LarvaTimeoutError):
            client.register({"prompt": "x" * (4 << 20)})
        child = client._child
        assert child is not None
        child.close(0.1)

    def test_frame_too_long(self) -> None:
        client = self.client()
        with self.assertRaises(larva.LarvaApiError) as caught:
            client.register({"prompt": "x" * (17 << 20)})
        self.assertEqual(caught.exception.code, "INVALID_INPUT")
        self.assertEqual(self.calls(), [])

    def test_stderr_is_drained(self) -> None:
        client = self.client("flood")
        for _ in range(3):
            self.pid(client)
        self.assertEqual(self.starts(), 1)

    def test_its_own_requests_are_answered(self) -> None:
        client = self.client("ask")
        self.pid(client)
        self.assertIn("answers {} -32601", self.said())

    def test_no_protocol(self) -> None:
        client = self.client("garbage")
        with self.assertRaises(larva.LarvaProcessError) as caught:
            client.delete("a")
        self.assertIn("no JSON: b'Starting server...'", caught.exception.message)

    def test_stdout_closed_while_it_lives(self) -> None:
        client = self.client("hush")
        self.pid(client)
        self.assertEqual(self.starts(), 2)

    def test_close(self) -> None:
        client = self.client()
        pid = self.pid(client)
        client.close()
        self.assertTrue(gone(pid))
        self.assertEqual(self.said()[-1], "end")
        self.assertNotEqual(self.pid(client), pid)

    def test_stubborn_child_is_killed(self) -> None:
        client = self.client("stubborn")
        pid = self.pid(client)
        child = client._child
        assert child is not None
        child.close(0.1)
        self.assertTrue(gone(pid))

    def test_dropped_client_ends_its_child(self) -> None:
        client = larva.Client(str(self.binary), env=self.fake_env())
        pid = self.pid(client)
        del client
        wait_for(lambda: gone(pid), "the end of the child")

    def test_environment_changes(self) -> None:
        held = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(held)))
        os.environ.update(self.fake_env(LARVA_BIN=str(self.binary)))
        with larva.Client() as client:
            first = self.pid(client)
            self.assertEqual(self.pid(client), first)
            os.environ["LARVA_HOME"] = str(self.dir / "other")
            self.assertNotEqual(self.pid(client), first)
            wait_for(lambda: gone(first), "the end of the first child")

    def test_interrupt(self) -> None:
        """Ctrl-C ends the wait, not the child: the group is its own."""
        client = self.client("hang:delete")
        pid = self.pid(client)
        self.assertNotEqual(os.getpgid(pid), os.getpgid(0))

        def interrupt() -> None:
            wait_for(lambda: "call delete" in self.said(), "the call")
            signal.raise_signal(signal.SIGINT) if sys.platform == "win32" else os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        with self.assertRaises(KeyboardInterrupt):
            client.delete("a")
        self.assertEqual(self.pid(client), pid)
        wait_for(lambda: "cancelled" in self.said(), "the note that nobody waits any more")

    def test_fork(self) -> None:
        """A forked process starts a child of its own, and keeps none of its parent's alive."""
        client = self.client()
        pid = self.pid(client)
        ready, go = os.pipe(), os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # 3.12: we know that there are threads
            copy = os.fork()
        if copy == 0:
            code = 1
            try:
                other = self.pid(client)
                os.write(ready[1], b"%d" % other)
                os.read(go[0], 1)
                client.close()
                code = 0 if gone(other) else 2
            finally:
                os._exit(code)
        os.close(ready[1])
        os.close(go[0])
        other = int(os.read(ready[0], 32))
        self.assertNotEqual(other, pid)
        self.assertEqual(self.pid(client), pid)
        client.close()  # hangs where the copy still holds the child's stdin
        self.assertTrue(gone(pid))
        self.assertFalse(gone(other))
        os.write(go[1], b"x")
        self.assertEqual(os.waitpid(copy, 0)[1], 0)
        os.close(ready[0])
        os.close(go[1])

    def test_fork_while_others_call(self) -> None:
        client = self.client()
        self.pid(client)
        stop = threading.Event()

        def busy() -> None:
            while not stop.is_set():
                self.pid(client)

        threads = [threading.Thread(target=busy) for _ in range(3)]
        for t in threads:
            t.start()
        try:
            for _ in range(5):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", DeprecationWarning)
                    copy = os.fork()
                if copy == 0:
                    code = 1
                    try:
                        self.pid(client)
                        client.close()
                        code = 0
                    finally:
                        os._exit(code)
                self.assertEqual(os.waitpid(copy, 0)[1], 0)
        finally:
            stop.set()
            for t in threads:
                t.join(20)

    def run_script(self, text: str, ways: str = "") -> "subprocess.Popen[str]":
        env = self.fake_env(FAKE=ways, LARVA_BIN=str(self.binary), PYTHONPATH=str(HERE.parent))
        return subprocess.Popen(
            [sys.executable, "-W", "error", "-c", text], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def test_closed_at_exit(self) -> None:
        for ways, last in [("", "end"), ("stubborn", None)]:
            with self.subTest(ways=ways):
                script = "import larva, larva._child as c\nprint(larva.variant_list('a')['pid'])\n"
                if ways:  # its patience would be the test's
                    script += "close = c.Child.close\nc.Child.close = lambda self: close(self, 0.1)\n"
                out, errs = self.run_script(script, ways).communicate(timeout=30)
                self.assertEqual(errs, "")
                wait_for(lambda: gone(int(out)), "the end of the child")
                if last:
                    self.assertEqual(self.said()[-1], last)

    def test_ends_with_a_killed_parent(self) -> None:
        script = "import larva, sys\nprint(larva.variant_list('a')['pid'], flush=True)\nsys.stdin.read()\n"
        parent = self.run_script(script)
        assert parent.stdout is not None and parent.stderr is not None
        pid = int(parent.stdout.readline())
        parent.kill()
        parent.wait(20)
        wait_for(lambda: gone(pid), "the end of the child")
        parent.stdout.close()
        parent.stderr.close()


if sys.platform == "win32":
    del TestChild

if __name__ == "__main__":
    unittest.main()
