"""The models and calls are those of the service's OpenAPI document."""

import inspect
import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import httpx
import pytest

from tracked_wallets import AsyncTrackedWallets, TrackedWallets, calls, models
from tracked_wallets.model import Model
from write_models import MODELS, write

from .conftest import Service

PREFIX = "#/components/schemas/"
JSON_TYPES = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    types.NoneType: "null",
}


@pytest.fixture(scope="module")
def document(service: Service) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"{service.url}/openapi.json").json()
    return found


def form_of_schema(schema: dict[str, Any], document: dict[str, Any]) -> Any:
    """A schema as nested objects: names of fields with whether they are required, and types."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(PREFIX)
        return form_of_schema(document["components"]["schemas"][name], document)
    if "anyOf" in schema:
        return merged([form_of_schema(one, document) for one in schema["anyOf"]])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if kinds == ["object"]:
        return {
            (name, name in schema.get("required", [])): form_of_schema(field, document)
            for name, field in schema["properties"].items()
        }
    if kinds == ["array"]:
        return [form_of_schema(schema["items"], document)]
    if isinstance(schema.get("const"), int):
        return {"integer"}
    return set(kinds)


def form_of_type(kind: Any) -> Any:
    """A type of the models, in the same form."""
    if get_origin(kind) in (Union, types.UnionType):
        return merged([form_of_type(one) for one in get_args(kind)])
    if get_origin(kind) is Literal:
        return {JSON_TYPES[type(value)] for value in get_args(kind)}
    if get_origin(kind) is list:
        return [form_of_type(get_args(kind)[0])]
    if isinstance(kind, type) and issubclass(kind, Model):
        return {
            (field.alias or name, field.is_required()): form_of_type(
                field.annotation if field.is_required() else without_none(field.annotation)
            )
            for name, field in kind.model_fields.items()
        }
    return {JSON_TYPES[kind]}


def without_none(kind: Any) -> Any:
    """The type of a field that may be absent; it is None then. `Union` takes a list."""
    kept = [one for one in get_args(kind) if one is not types.NoneType]
    return Union[tuple(kept)]  # noqa: UP007


def merged(forms: list[Any]) -> Any:
    """Alternatives: scalars as one set, else an object or list and whether it may be null."""
    scalars = set().union(*(form for form in forms if isinstance(form, set)))
    others = [form for form in forms if not isinstance(form, set)]
    return (others[0], scalars) if others else scalars


def product_paths(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The operations that an API key may call, and the status."""
    return {
        path: operations["get"]
        for path, operations in document["paths"].items()
        if operations.get("get", {}).get("security") == [{"apiKey": []}] or path == "/status"
    }


def every_call() -> dict[str, calls.Call[Any]]:
    """Each call by its path, with the names of path parameters for their values."""
    made = {}
    for call in calls.CALLS:
        names = [name for name in inspect.signature(call).parameters if name in ("alias", "mint")]
        rest: list[Any] = [{}] if "query" in inspect.signature(call).parameters else []
        rest += [1] if "at" in inspect.signature(call).parameters else []
        rest += ["x"] if "q" in inspect.signature(call).parameters else []
        one = call(*names, *rest)
        path = one.path
        for name in names:
            path = path.replace(f"/{name}", f"/{{{name}}}", 1)
        made[path] = one
    return made


def test_every_resource_of_an_api_key_has_a_call_with_its_form_of_answer(
    document: dict[str, Any],
) -> None:
    expected = {
        path: form_of_schema(
            operation["responses"]["200"]["content"]["application/json"]["schema"], document
        )
        for path, operation in product_paths(document).items()
    }
    answers = {
        path: call.answer if call.answer is not calls.TradesPage else models.TradesAnswer
        for path, call in every_call().items()
    }
    nullable_when_absent = ("as_of", False)
    got = {path: form_of_type(answer) for path, answer in answers.items()}
    expected["/wallets"][nullable_when_absent] -= {"null"}  # None says both
    assert got == expected


def test_the_fields_of_a_refusal_are_those_of_the_document(document: dict[str, Any]) -> None:
    schema = {"$ref": f"{PREFIX}Problem"}
    assert form_of_type(models.Problem) == form_of_schema(schema, document)


def test_every_parameter_of_a_resource_is_one_of_its_method(document: dict[str, Any]) -> None:
    expected = {
        path: {one["name"] for one in operation.get("parameters", []) if one["in"] != "header"}
        for path, operation in product_paths(document).items()
    }
    got = {}
    for path, function in zip(every_call(), calls.CALLS, strict=True):
        hints = get_type_hints(function)
        query = get_type_hints(hints["query"]) if "query" in hints else {}
        plain = {name for name in hints if name not in ("query", "return")}
        got[path] = plain | {name.rstrip("_") for name in query}
    assert got == expected


def test_models_are_what_the_document_makes_of_them(
    document: dict[str, Any], tmp_path: Path
) -> None:
    write(document, tmp_path / "models.py")
    assert (tmp_path / "models.py").read_text() == MODELS.read_text()


def test_both_clients_have_the_same_methods_and_parameters() -> None:
    def methods(client: type) -> dict[str, Any]:
        return {
            name: [
                (one.name, one.default, one.kind, one.annotation)
                for one in inspect.signature(method).parameters.values()
            ]
            for name, method in inspect.getmembers(client, inspect.isfunction)
            if not name.startswith("_") and name not in ("close", "aclose")
        }

    assert methods(TrackedWallets) == methods(AsyncTrackedWallets)
    assert {call.__name__ for call in calls.CALLS} <= set(methods(TrackedWallets))
