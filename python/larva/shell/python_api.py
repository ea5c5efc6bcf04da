"""The functions of larva, under the name that scripts may already import."""

from .._api import (
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
from .._errors import LarvaApiError
from .._types import (
    BatchUpdateResult,
    DeletedPersona,
    PersonaSpec,
    PersonaSummary,
    RegisteredPersona,
    ValidationReport,
)

__all__ = [
    "BatchUpdateResult",
    "DeletedPersona",
    "LarvaApiError",
    "PersonaSpec",
    "PersonaSummary",
    "RegisteredPersona",
    "ValidationReport",
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
