"""One ``larva mcp`` process and the pipes to it.

Three threads serve a child, each the only owner of one pipe: one writes
frames, one reads them, one drains stderr. So no caller ever blocks on a pipe,
and a child that stops reading costs nobody more than his timeout.

The pipes are raw file descriptors: a forked copy of this process can close
its ends without touching buffers or locks that another thread held.
"""

from __future__ import annotations

import atexit
import itertools
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import weakref
from typing import Any, Dict, Mapping, Optional, Sequence, Union

PROTOCOL = "2025-11-25"

_LONGEST = 16 << 20  # bytes of one frame; larva refuses longer ones without saying whose they were

_TAIL = 4096  # bytes of stderr kept for the message that tells of a death


class Died(Exception):
    """The child is gone. ``sent`` says whether it may have seen the call."""

    def __init__(self, reason: str, sent: bool) -> None:
        super().__init__(reason)
        self.sent = sent


class Expired(Exception):
    """The deadline passed. ``sent`` says whether the child may have seen the call."""

    def __init__(self, sent: bool) -> None:
        super().__init__("no answer in time")
        self.sent = sent


class Call:
    """One request on its way; its answer is a message or a Died."""

    def __init__(self, number: int, frame: bytes) -> None:
        self.number = number
        self.frame = frame
        self.sent = False
        self.answer: "queue.SimpleQueue[Union[Dict[str, Any], Died]]" = queue.SimpleQueue()


# Held while a process is made and by fork, so that no copy of this process
# holds pipes that it does not know of.
_making = threading.Lock()
_children: "weakref.WeakSet[Child]" = weakref.WeakSet()


class Child:
    """A running ``larva mcp``. Raises OSError where it cannot be started."""

    def __init__(self, argv: Sequence[str], env: Optional[Mapping[str, str]] = None) -> None:
        self.doubtful = False  # a call expired: look whether it still answers
        # Reentrant: a client may be collected, and retire its child, in the
        # middle of anything that allocates.
        self._lock = threading.RLock()
        self._calls: Dict[int, Call] = {}
        self._numbers = itertools.count(1)
        self._dead = ""  # the reason
        self._retired = False
        self._outbox: "queue.SimpleQueue[Union[Call, bytes, None]]" = queue.SimpleQueue()
        self._tail = b""
        with _making:
            self._process = _start(argv, env)
            _children.add(self)
        self._writer, self._drainer, self._reader = (
            threading.Thread(target=job, name=f"larva-{job.__name__.strip('_')}", daemon=True)
            for job in (self._write, self._drain, self._read)
        )
        for t in (self._writer, self._drainer, self._reader):  # the reader joins the others
            t.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def alive(self) -> bool:
        with self._lock:
            if self._dead or self._retired:
                return False
        return self._process.poll() is None

    def initialize(self, name: str, version: str, deadline: float) -> None:
        """Open the session. Raises Died or Expired."""
        info = {"name": name, "version": version}
        answer = self.request(
            "initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": info}, deadline
        )
        if "error" in answer:
            raise Died(f"larva mcp refused the session: {answer['error'].get('message')}", False)
        self.notify("notifications/initialized", {})

    def request(self, method: str, params: Mapping[str, Any], deadline: float) -> Dict[str, Any]:
        """Send a request and wait for its answer. Raises Died or Expired, and
        ValueError where the frame is longer than larva reads."""
        number = next(self._numbers)
        call = Call(number, _frame(method, params, number))
        if len(call.frame) > _LONGEST:
            raise ValueError(f"is longer than {_LONGEST >> 20} MiB")
        with self._lock:
            if self._dead or self._retired:
                raise Died(self._dead or "the client was closed", False)
            self._calls[call.number] = call
            self._outbox.put(call)
        try:
            answer = call.answer.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            self.doubtful = True
            self._forget(call, "the client waits no longer")
            raise Expired(call.sent) from None
        except BaseException:  # Ctrl-C
            self._forget(call, "the client was interrupted")
            raise
        if isinstance(answer, Died):
            raise answer
        return answer

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        self._outbox.put(_frame(method, params))

    def _forget(self, call: Call, reason: str) -> None:
        with self._lock:
            self._calls.pop(call.number, None)
            tell = call.sent and not self._dead
            if not tell:
                call.frame = b""  # the writer passes over it
        if tell:
            self.notify("notifications/cancelled", {"requestId": call.number, "reason": reason})
        self._close_when_idle()

    # The writer.

    def _write(self) -> None:
        fd = self._process.stdin.fileno()  # type: ignore[union-attr]
        while True:
            item = self._outbox.get()
            if item is None:
                break
            frame = item if isinstance(item, bytes) else self._claim(item)
            rest = memoryview(frame)
            try:
                while rest:
                    rest = rest[os.write(fd, rest) :]
            except OSError:
                if isinstance(item, Call) and len(rest) == len(frame):
                    item.sent = False  # not one byte went out
                break
        self._process.stdin.close()  # type: ignore[union-attr]

    def _claim(self, call: Call) -> bytes:
        """The frame of a call that is still wanted; from here on it counts as sent."""
        with self._lock:
            if self._dead or not call.frame:
                return b""
            call.sent = True
            return call.frame

    # The reader.

    def _read(self) -> None:
        fd = self._process.stdout.fileno()  # type: ignore[union-attr]
        held = bytearray()
        reason = ""
        while not reason:
            try:
                chunk = os.read(fd, 1 << 16)
            except OSError:
                chunk = b""
            if not chunk:
                break
            start = len(held)
            held += chunk
            end = held.find(b"\n", start)
            while end >= 0 and not reason:
                line = bytes(held[:end])
                del held[: end + 1]
                reason = self._take(line)
                end = held.find(b"\n")
        self._end(reason)
        self._process.stdout.close()  # type: ignore[union-attr]

    def _take(self, line: bytes) -> str:
        """Hand one message on; what is no message ends the child with the reason given."""
        if not line.strip():
            return ""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return f"larva mcp wrote what is no JSON: {line[:80]!r}"
        if not isinstance(message, dict):
            return f"larva mcp wrote what is no message: {line[:80]!r}"
        number = message.get("id")
        if "method" in message:
            if number is not None:
                self._serve(message["method"], number)
            return ""
        with self._lock:
            call = self._calls.pop(number, None) if isinstance(number, int) else None
        self.doubtful = False
        if call is not None:
            call.answer.put(message)
            self._close_when_idle()
        return ""

    def _serve(self, method: Any, number: Any) -> None:
        """Answer the server's own requests: it may ask whether we are there."""
        answer: Dict[str, Any] = {"jsonrpc": "2.0", "id": number}
        if method == "ping":
            answer["result"] = {}
        else:
            answer["error"] = {"code": -32601, "message": "method not found"}
        self._outbox.put(_encode(answer))

    def _end(self, reason: str) -> None:
        """The child has closed its stdout: see to its end, then tell who waits."""
        self._outbox.put(None)
        _finish(self._process, 1.0)
        if not reason:
            self._drainer.join(1.0)
            reason = f"larva mcp ended with status {self._process.returncode}" + self._last_words()
        with self._lock:
            self._dead = reason
            waiting = [*self._calls.values()]
            self._calls.clear()
        self._outbox.put(None)
        # A writer in the middle of a frame has an end of pipe to meet: then it
        # knows whether a byte went out.
        self._writer.join(1.0)
        for call in waiting:
            call.answer.put(Died(reason, call.sent))

    def _last_words(self) -> str:
        lines = self._tail.decode("utf-8", "replace").strip().splitlines()
        return f": {lines[-1][:300]}" if lines else ""

    # Stderr.

    def _drain(self) -> None:
        fd = self._process.stderr.fileno()  # type: ignore[union-attr]
        while True:
            try:
                chunk = os.read(fd, 1 << 16)
            except OSError:
                chunk = b""
            if not chunk:
                break
            self._tail = (self._tail + chunk)[-_TAIL:]
        self._process.stderr.close()  # type: ignore[union-attr]

    # The end.

    def retire(self) -> None:
        """Take no more calls, and close once those on their way are answered."""
        with self._lock:
            self._retired = True
        self._close_when_idle()

    def _close_when_idle(self) -> None:
        with self._lock:
            idle = self._retired and not self._calls
        if idle:
            self._outbox.put(None)  # its stdin ends, and so does it

    def close(self, grace: float = 2.0) -> None:
        """Close its stdin, wait, and kill it if it will not go."""
        with self._lock:
            self._retired = True
        self._outbox.put(None)
        _finish(self._process, grace)
        for t in (self._writer, self._drainer, self._reader):
            if t is not threading.current_thread():
                t.join(1.0)

    def abandon(self) -> None:
        """In a forked copy of the process: let go of the parent's child, so
        that it sees its stdin end when the parent is gone."""
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    pass
        self._process.returncode = 0  # not ours to wait for


def _start(argv: Sequence[str], env: Optional[Mapping[str, str]]) -> "subprocess.Popen[bytes]":
    # A group of its own: Ctrl-C at a terminal is for the caller, who decides
    # what becomes of the child.
    flags = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    return subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env=None if env is None else dict(env),
        start_new_session=sys.platform != "win32",
        creationflags=flags,
    )


def _finish(process: "subprocess.Popen[bytes]", grace: float) -> None:
    """Wait for the end, ask for it, force it."""
    for step in (None, "terminate", "kill"):
        if step is not None:
            _signal(process, step)
        try:
            process.wait(grace)
            return
        except subprocess.TimeoutExpired:
            continue


def _signal(process: "subprocess.Popen[bytes]", step: str) -> None:
    if process.poll() is not None:
        return
    try:
        if step == "terminate":
            process.terminate()
        elif sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)  # it leads its group
    except OSError:
        pass


def _frame(method: str, params: Mapping[str, Any], number: Optional[int] = None) -> bytes:
    message: Dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        message["id"] = number
    return _encode(message)


def _encode(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def close_all() -> None:
    """Close every child, also one whose client was dropped."""
    for child in [*_children]:
        child.close()


def _after_fork() -> None:
    _making.release()
    for child in _children:
        child.abandon()
    _children.clear()


atexit.register(close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_making.acquire, after_in_parent=_making.release, after_in_child=_after_fork
    )
