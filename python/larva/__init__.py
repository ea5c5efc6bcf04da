"""Larva's persona registry from Python.

The functions drive one ``larva mcp`` for the whole process: found by LARVA_BIN,
then on PATH, started on first use, started again when it dies, closed at exit.
A failed operation raises LarvaApiError.
"""

from ._api import (
    clear,
    clone,
    delete,
    export_all,
    export_ids,
    list,
    register,
    resolve,
    update,
    update_batch,
    validate,
    variant_activate,
    variant_delete,
    variant_list,
)
from ._client import Client
from ._errors import LarvaApiError, LarvaProcessError, LarvaTimeoutError
from ._types import (
    ActivatedVariant,
    BatchItem,
    BatchUpdateResult,
    DeletedPersona,
    DeletedVariant,
    Issue,
    PersonaSpec,
    PersonaSummary,
    RegisteredPersona,
    ValidationReport,
    VariantMetadata,
)
from ._version import __version__

__all__ = [
    "ActivatedVariant",
    "BatchItem",
    "BatchUpdateResult",
    "Client",
    "DeletedPersona",
    "DeletedVariant",
    "Issue",
    "LarvaApiError",
    "LarvaProcessError",
    "LarvaTimeoutError",
    "PersonaSpec",
    "PersonaSummary",
    "RegisteredPersona",
    "ValidationReport",
    "VariantMetadata",
    "__version__",
    "clear",
    "clone",
    "delete",
    "export_all",
    "export_ids",
    "list",
    "register",
    "resolve",
    "update",
    "update_batch",
    "validate",
    "variant_activate",
    "variant_delete",
    "variant_list",
]
