"""The fourteen functions, on one client that the whole process shares.

``list`` is the name of one of them: below it the builtin goes by ``List``.
"""

from __future__ import annotations

from typing import Any, Iterable, List, Mapping, Optional

from ._client import Client
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

__all__ = [
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

_client = Client()


def validate(spec: Mapping[str, Any]) -> ValidationReport:
    """Check a PersonaSpec without storing it. An invalid one is no error: its
    report says ``valid: False`` and why."""
    return _client.validate(spec)


def register(spec: Mapping[str, Any], variant: Optional[str] = None) -> RegisteredPersona:
    """Store a PersonaSpec as one variant, ``default`` where none is named. The
    first variant of a new persona is its active one."""
    return _client.register(spec, variant)


def resolve(
    id: str, overrides: Optional[Mapping[str, Any]] = None, variant: Optional[str] = None
) -> PersonaSpec:
    """Give a stored persona as one PersonaSpec: its active variant, or the
    named one. overrides replaces prompt, model, model_params or
    compaction_prompt in the answer; nothing is stored."""
    return _client.resolve(id, overrides, variant)


def update(id: str, patches: Mapping[str, Any], variant: Optional[str] = None) -> PersonaSpec:
    """Change fields of one persona and give the result. Dotted keys reach into
    capabilities and model_params. Without a variant, description, capabilities
    and can_spawn change for all variants, the other fields for the active one."""
    return _client.update(id, patches, variant)


def update_batch(
    where: Mapping[str, Any], patches: Mapping[str, Any], dry_run: bool = False
) -> BatchUpdateResult:
    """Change every persona whose fields equal all of where; with dry_run only
    say which ones match."""
    return _client.update_batch(where, patches, dry_run)


def clone(source_id: str, new_id: str) -> PersonaSpec:
    """Copy a persona's contract and active variant to a new id."""
    return _client.clone(source_id, new_id)


def list() -> List[PersonaSummary]:
    """Summarise the active variants of all personas, sorted by id."""
    return _client.list()


def delete(id: str) -> DeletedPersona:
    """Remove a persona with all its variants."""
    return _client.delete(id)


def clear(*, confirm: str) -> int:
    """Remove all personas and give their number. confirm must be exactly
    ``"CLEAR REGISTRY"``."""
    return _client.clear(confirm=confirm)


def export_all() -> List[PersonaSpec]:
    """Give every persona whole, sorted by id."""
    return _client.export_all()


def export_ids(ids: Iterable[str]) -> List[PersonaSpec]:
    """Give these personas whole, in this order, duplicates too."""
    return _client.export_ids(ids)


def variant_list(id: str) -> VariantMetadata:
    """Name a persona's variants and the active one."""
    return _client.variant_list(id)


def variant_activate(id: str, variant: str) -> ActivatedVariant:
    """Make a variant the active one."""
    return _client.variant_activate(id, variant)


def variant_delete(id: str, variant: str) -> DeletedVariant:
    """Remove a variant; never the active or the last one."""
    return _client.variant_delete(id, variant)
