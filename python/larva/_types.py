"""The shapes of what the operations take and give."""

from __future__ import annotations

from typing import Any, Dict, List, TypedDict, Union

__all__ = [
    "ActivatedVariant",
    "BatchItem",
    "BatchUpdateResult",
    "DeletedPersona",
    "DeletedVariant",
    "Issue",
    "PersonaSpec",
    "PersonaSummary",
    "RegisteredPersona",
    "ValidationReport",
    "VariantMetadata",
]


class _RequiredFields(TypedDict):
    id: str
    description: str
    prompt: str
    model: str
    capabilities: Dict[str, str]  # family: none, read_only, read_write or destructive
    spec_version: str


class PersonaSpec(_RequiredFields, total=False):
    """One persona, flat. ``spec_digest`` is always there in what larva gives."""

    model_params: Dict[str, Any]
    can_spawn: Union[bool, List[str]]
    compaction_prompt: str
    spec_digest: str


class Issue(TypedDict):
    code: str
    message: str
    details: Dict[str, Any]


class ValidationReport(TypedDict):
    valid: bool
    errors: List[Issue]
    warnings: List[str]


class RegisteredPersona(TypedDict):
    id: str
    registered: bool


class PersonaSummary(TypedDict):
    id: str
    description: str
    spec_digest: str
    model: str
    capabilities: Dict[str, str]


class BatchItem(TypedDict):
    id: str
    updated: bool


class BatchUpdateResult(TypedDict):
    items: List[BatchItem]
    matched: int
    updated: int


class DeletedPersona(TypedDict):
    id: str
    deleted: bool


class VariantMetadata(TypedDict):
    id: str
    active: str
    variants: List[str]


class ActivatedVariant(TypedDict):
    id: str
    active: str


class DeletedVariant(TypedDict):
    id: str
    variant: str
    deleted: bool
