"""The registry's operations over one long-lived ``larva mcp``."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
import weakref
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, cast

from ._child import Child, Died, Expired
from ._errors import LarvaApiError, LarvaProcessError, LarvaTimeoutError
from ._types import (
    ActivatedVariant,
    BatchUpdateResult,
    DeletedPersona,
    DeletedVariant,
    PersonaSpec,
    PersonaSummary,
    RegisteredPersona,
    ValidationReport,
    VariantMetadata,
)
from ._value import plain, strings
from ._version import __version__

# A writer waits two minutes for the registry's lock at most; an answer that
# takes longer than this is not coming.
DEFAULT_TIMEOUT = 180.0

# How long a child that let a call expire may take to say that it is there.
_PONG = 5.0

_READS = frozenset(["validate", "resolve", "list", "export", "variant_list"])

# What a child takes from its environment at its start: after a change of one
# of these the next call goes to a new child.
_WATCHED = ("LARVA_BIN", "LARVA_HOME", "LARVA_DEPTH", "HOME", "USERPROFILE", "PATH")


class Client:
    """Drives one ``larva mcp``; made on first use, made anew when it died.

    binary: the program; without it LARVA_BIN, then ``larva`` on PATH.
    timeout: seconds for one call, starting the child included.
    env: the child's whole environment; without it the caller's own, and a
    change of HOME, LARVA_HOME, LARVA_BIN, LARVA_DEPTH or PATH takes effect
    with the next call.

    All methods may be called from many threads at once, and in a forked
    process, which starts a child of its own. A call that only reads is
    repeated once where the child dies under it. One that writes is not: it
    raises LarvaProcessError with ``details["outcome"] == "unknown"``, unless
    it is certain that the child never saw it.
    """

    def __init__(
        self,
        binary: Optional[str] = None,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        env: Optional[Mapping[str, str]] = None,
    ) -> None:
        self.timeout = timeout
        self._binary = binary
        self._env = None if env is None else dict(env)
        self._lock = threading.Lock()
        self._child: Optional[Child] = None
        self._seen: Tuple[Optional[str], ...] = ()
        _clients.add(self)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        child = getattr(self, "_child", None)
        if child is not None:
            child.retire()

    def close(self) -> None:
        """End the child: its stdin closes, and it is killed if it stays. A
        later call starts another."""
        with self._lock:
            child, self._child = self._child, None
        if child is not None:
            child.close()

    # The operations.

    def validate(self, spec: Mapping[str, Any]) -> ValidationReport:
        return cast(ValidationReport, self._do("validate", {"spec": spec}))

    def register(self, spec: Mapping[str, Any], variant: Optional[str] = None) -> RegisteredPersona:
        return cast(RegisteredPersona, self._do("register", {"spec": spec}, {"variant": variant}))

    def resolve(
        self, id: str, overrides: Optional[Mapping[str, Any]] = None, variant: Optional[str] = None
    ) -> PersonaSpec:
        optional = {"overrides": overrides, "variant": variant}
        return cast(PersonaSpec, self._do("resolve", {"id": id}, optional))

    def update(self, id: str, patches: Mapping[str, Any], variant: Optional[str] = None) -> PersonaSpec:
        params = {"id": id, "patches": patches}
        return cast(PersonaSpec, self._do("update", params, {"variant": variant}))

    def update_batch(
        self, where: Mapping[str, Any], patches: Mapping[str, Any], dry_run: bool = False
    ) -> BatchUpdateResult:
        params = {"where": where, "patches": patches, "dry_run": dry_run}
        return cast(BatchUpdateResult, self._do("update_batch", params))

    def clone(self, source_id: str, new_id: str) -> PersonaSpec:
        return cast(PersonaSpec, self._do("clone", {"source_id": source_id, "new_id": new_id}))

    def delete(self, id: str) -> DeletedPersona:
        return cast(DeletedPersona, self._do("delete", {"id": id}))

    def clear(self, *, confirm: str) -> int:
        answer = cast(Dict[str, Any], self._do("clear", {"confirm": confirm}))
        return int(answer["count"])

    def export_all(self) -> List[PersonaSpec]:
        return cast(List[PersonaSpec], self._do("export", {"all": True}))

    def export_ids(self, ids: Iterable[str]) -> List[PersonaSpec]:
        return cast(List[PersonaSpec], self._do("export", {"ids": strings(ids)}))

    def variant_list(self, id: str) -> VariantMetadata:
        return cast(VariantMetadata, self._do("variant_list", {"id": id}))

    def variant_activate(self, id: str, variant: str) -> ActivatedVariant:
        return cast(ActivatedVariant, self._do("variant_activate", {"id": id, "variant": variant}))

    def variant_delete(self, id: str, variant: str) -> DeletedVariant:
        return cast(DeletedVariant, self._do("variant_delete", {"id": id, "variant": variant}))

    def list(self) -> List[PersonaSummary]:  # last: below it, list is this method
        return cast(List[PersonaSummary], self._do("list", {}))

    # The way there and back.

    def _do(
        self, operation: str, params: Mapping[str, Any], optional: Optional[Mapping[str, Any]] = None
    ) -> Any:
        """Carry out one operation. An optional parameter that is None was not
        given; any other is sent, and larva says what it thinks of it."""
        given = dict(params)
        given.update((k, v) for k, v in (optional or {}).items() if v is not None)
        arguments: Dict[str, Any] = {}
        for name, value in given.items():
            try:
                arguments[name] = plain(value, name)
            except ValueError as e:
                raise _malformed(operation, name, str(e)) from None
        try:
            answer = self._ask(operation, arguments)
        except ValueError as e:  # too long, or an int with more digits than Python itself prints
            raise _malformed(operation, "params", str(e)) from None
        return _value(operation, answer)

    def _ask(self, operation: str, arguments: Dict[str, Any]) -> Dict[str, Any]:
        reads = operation in _READS or arguments.get("dry_run") is True
        deadline = time.monotonic() + self.timeout
        repeated = False
        while True:
            child = self._running(operation, deadline)
            try:
                return child.request(
                    "tools/call", {"name": "larva_" + operation, "arguments": arguments}, deadline
                )
            except Died as e:
                if not repeated and (reads or not e.sent):
                    repeated = True
                    continue
                raise _broken(operation, str(e), unknown=e.sent and not reads) from None
            except Expired as e:
                raise _late(operation, self.timeout, unknown=e.sent and not reads) from None

    def _running(self, operation: str, deadline: float) -> Child:
        """The child, started where there is none."""
        if not self._lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise _late(operation, self.timeout, unknown=False)
        try:
            seen = _watched() if self._env is None else ()
            child = self._child
            if child is not None and seen != self._seen:
                child.retire()
                child = self._child = None
            if child is not None and child.doubtful and not _answers(child, deadline):
                child.close(0.5)
            if child is None or not child.alive():
                child = self._start(operation, deadline)
                self._child, self._seen = child, seen
            return child
        finally:
            self._lock.release()

    def _start(self, operation: str, deadline: float) -> Child:
        binary = self._find(operation)
        try:
            child = Child([binary, "mcp"], self._env)
        except OSError as e:
            reason = f"cannot start {binary}: {e.strerror or e}"
            raise _broken(operation, reason, unknown=False) from None
        try:
            child.initialize("larva-python", __version__, deadline)
        except Died as e:
            child.close(0.5)
            raise _broken(operation, f"{binary}: {e}", unknown=False) from None
        except BaseException as e:
            child.close(0.5)
            if isinstance(e, Expired):
                raise _late(operation, self.timeout, unknown=False) from None
            raise
        return child

    def _find(self, operation: str) -> str:
        env: Mapping[str, str] = os.environ if self._env is None else self._env
        named = self._binary or env.get("LARVA_BIN")
        if named:
            found = shutil.which(named, path=env.get("PATH"))
            reason = f"{named} is no program that can be run; " + (
                "it was given as binary" if self._binary else "LARVA_BIN names it"
            )
        else:
            found = shutil.which("larva", path=env.get("PATH"))
            reason = "there is no larva on PATH; install it, or set LARVA_BIN to where it is"
        if found is None:
            raise _broken(operation, reason, unknown=False)
        return found


def _watched() -> Tuple[Optional[str], ...]:
    return tuple(os.environ.get(name) for name in _WATCHED)


def _answers(child: Child, deadline: float) -> bool:
    try:
        child.request("ping", {}, min(deadline, time.monotonic() + _PONG))
    except (Died, Expired):
        return False
    return True


def _value(operation: str, message: Mapping[str, Any]) -> Any:
    """What a tool's result holds, or its error raised."""
    result = message.get("result")
    if not isinstance(result, Mapping):
        raise _refused(operation, message.get("error"))
    value = _structured(result)
    if result.get("isError"):
        if isinstance(value, Mapping) and "code" in value:
            raise LarvaApiError(value)
        raise _broken(operation, f"larva mcp gave an error without a code: {value!r}", unknown=False)
    if operation in ("list", "export") and isinstance(value, Mapping):
        return value["result"]
    return value


def _structured(result: Mapping[str, Any]) -> Any:
    if "structuredContent" in result:
        return result["structuredContent"]
    texts = [b.get("text", "") for b in result.get("content", []) if b.get("type") == "text"]
    try:
        return json.loads("".join(texts))
    except ValueError:
        return "".join(texts)


def _refused(operation: str, error: Any) -> LarvaApiError:
    """An error of the protocol; larva puts the envelope into its data where it has one."""
    error = error if isinstance(error, Mapping) else {}
    data = error.get("data")
    if isinstance(data, Mapping) and "code" in data and "numeric_code" in data:
        return LarvaApiError(data)
    return _broken(operation, f"larva mcp refused the call: {error.get('message')}", unknown=False)


def _malformed(operation: str, field: str, reason: str) -> LarvaApiError:
    return LarvaApiError(
        {
            "code": "INVALID_INPUT",
            "numeric_code": 1,
            "message": f"{operation}: {reason}",
            "details": {"operation": operation, "field": field, "reason": reason},
        }
    )


def _process_error(operation: str, reason: str, unknown: bool) -> Dict[str, Any]:
    details: Dict[str, Any] = {"operation": operation, "reason": reason}
    message = f"{operation}: {reason}"
    if unknown:
        details["outcome"] = "unknown"
        message += "; the change may have been made or not, and was not tried again"
    return {"code": "INTERNAL", "numeric_code": 10, "message": message, "details": details}


def _broken(operation: str, reason: str, *, unknown: bool) -> LarvaProcessError:
    return LarvaProcessError(_process_error(operation, reason, unknown))


def _late(operation: str, timeout: float, *, unknown: bool) -> LarvaTimeoutError:
    reason = f"no answer within {timeout:g} seconds"
    return LarvaTimeoutError(_process_error(operation, reason, unknown))


_clients: "weakref.WeakSet[Client]" = weakref.WeakSet()


def _after_fork() -> None:
    for client in _clients:
        client._lock = threading.Lock()
        client._child = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
