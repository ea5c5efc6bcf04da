"""What can go wrong: the envelope of an operation, and the child itself."""

from __future__ import annotations

from typing import Any, Dict, Mapping

__all__ = ["LarvaApiError", "LarvaProcessError", "LarvaTimeoutError"]


class LarvaApiError(Exception):
    """A failed operation.

    ``code`` is a stable name (``"PERSONA_NOT_FOUND"``), ``numeric_code`` its
    number, ``message`` a sentence for people, ``details`` JSON values that say
    more. ``error`` is all four as one dict, the envelope that every face of
    larva prints.
    """

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(error)
        details = error.get("details")
        self.code: str = str(error.get("code", "INTERNAL"))
        self.numeric_code: int = int(error.get("numeric_code", 10))
        self.message: str = str(error.get("message", ""))
        self.details: Dict[str, Any] = dict(details) if isinstance(details, Mapping) else {}

    @property
    def error(self) -> Dict[str, Any]:
        return {
            "code": self.code,
            "numeric_code": self.numeric_code,
            "message": self.message,
            "details": self.details,
        }

    def __str__(self) -> str:
        return "\n  ".join([f"{self.code}: {self.message}", *self._issues()])

    def _issues(self) -> "list[str]":
        """The lines of a report that has more to say than its first issue,
        which is the message already."""
        report = self.details.get("report")
        errors = report.get("errors") if isinstance(report, Mapping) else None
        if not isinstance(errors, list) or len(errors) < 2:
            return []
        return [f"{e.get('code')}: {e.get('message')}" for e in errors if isinstance(e, Mapping)]


class LarvaProcessError(LarvaApiError):
    """``larva mcp`` could not be found or started, died, or spoke no protocol.

    Its code is INTERNAL. ``details["operation"]`` names the call. For one that
    changes the registry and had been sent, ``details["outcome"]`` is
    ``"unknown"``: it may have been carried out or not, and was not repeated.
    """


class LarvaTimeoutError(LarvaProcessError, TimeoutError):
    """No answer in time. A write's outcome is unknown."""
