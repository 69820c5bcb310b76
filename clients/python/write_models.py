"""Writes `src/tracked_wallets/models.py` from the OpenAPI document of a service.

`python write_models.py DOCUMENT [OUTPUT]`: DOCUMENT is a file with `/openapi.json`. The models are
those of every resource that an API key may call, of `GET /status`, and of refusals.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

MODELS = Path(__file__).parent / "src/tracked_wallets/models.py"
HEADER = '''"""Answers of the service, written by `write_models.py` from its OpenAPI document.

Amounts in raw units are `str` of an integer. Times are unix seconds. SOL figures are `float`.
Fields that a newer service adds are ignored.
"""'''
PREFIX = "#/components/schemas/"
BOUNDS = {
    "additionalProperties",
    "const",
    "examples",
    "maximum",
    "maxItems",
    "minimum",
    "minItems",
    "pattern",
}


def of_customers(document: dict[str, Any]) -> dict[str, Any]:
    """The document with the schemas alone that customers of the API need, open to new fields."""
    schemas = document["components"]["schemas"]
    needed: set[str] = set()

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            name = str(node.get("$ref", "")).removeprefix(PREFIX)
            if name in schemas and name not in needed:
                needed.add(name)
                walk(schemas[name])
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    for path, operations in document["paths"].items():
        operation = operations.get("get", {})
        if operation.get("security") == [{"apiKey": []}] or path == "/status":
            walk(operation["responses"]["200"])
    walk({"$ref": f"{PREFIX}Problem"})
    kept = {name: opened(schemas[name]) for name in sorted(needed)}
    return {
        "openapi": document["openapi"],
        "info": document["info"],
        "paths": {},
        "components": {"schemas": lifted(kept)},
    }


def answers(document: dict[str, Any]) -> set[str]:
    """Names of the schemas that are whole answers."""
    found = {"StatusAnswer"}
    for operations in document["paths"].values():
        operation = operations.get("get", {})
        if operation.get("security") == [{"apiKey": []}]:
            content = operation["responses"]["200"]["content"]["application/json"]
            found.add(content["schema"]["$ref"].removeprefix(PREFIX))
    return found


def opened(schema: Any) -> Any:
    """The schema for an old client of a newer service: any text for an enum, and no bounds."""
    if isinstance(schema, list):
        return [opened(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: {name: opened(one) for name, one in value.items()}
        if key == "properties"
        else opened(value)
        for key, value in schema.items()
        if key not in BOUNDS
    }
    if isinstance(schema.get("const"), int):
        kept["type"] = "integer"
    if "enum" in kept:
        texts = {"type": "string", "enum": kept.pop("enum")}
        kept = {**kept, "anyOf": [texts, {"type": "string"}]}
        del kept["type"]
    return kept


def lifted(schemas: dict[str, Any]) -> dict[str, Any]:
    """The schemas with a name for each object within them, by the object that has it."""
    named = dict(schemas)

    def lift(node: Any, name: str) -> Any:
        if not isinstance(node, dict):
            return node
        node = {**node}
        if "items" in node:
            node["items"] = lift(node["items"], name.removesuffix("s"))
        if "anyOf" in node:
            node["anyOf"] = [lift(one, name) for one in node["anyOf"]]
        if "properties" not in node:
            return node
        owner = name.removesuffix("Answer")
        node["properties"] = {
            key: lift(value, owner + key.title().replace("_", ""))
            for key, value in node["properties"].items()
        }
        if name in schemas:
            return node
        name = next((other for other, known in named.items() if known == node), name)
        named[name] = node
        return {"$ref": PREFIX + name}

    # Metrics first: a ranked wallet has the same parts.
    for name in sorted(schemas, key=lambda name: (name != "WalletMetrics", name)):
        named[name] = lift(schemas[name], name)
    return named


def write(document: dict[str, Any], output: Path = MODELS) -> None:
    """Writes the module of models. Raises `CalledProcessError` if a tool fails."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "openapi.json"
        base_classes = {name: "tracked_wallets.model.Answer" for name in answers(document)}
        source.write_text(json.dumps(of_customers(document)))
        options = [
            "--input-file-type=openapi",
            "--output-model-type=pydantic_v2.BaseModel",
            "--target-python-version=3.11",
            "--enum-field-as-literal=all",
            "--use-standard-collections",
            "--use-union-operator",
            "--use-annotated",
            "--use-schema-description",
            "--use-field-description",
            "--use-double-quotes",
            "--disable-timestamp",
            "--collapse-root-models",
            "--formatters=ruff-format",
            "--use-inline-field-description",
            "--base-class=tracked_wallets.model.Model",
            f"--base-class-map={json.dumps(base_classes)}",
            f"--custom-file-header={HEADER}",
        ]
        tool = [sys.executable, "-m", "datamodel_code_generator"]
        subprocess.run(
            [*tool, f"--input={source}", f"--output={output}", *options],
            check=True,
        )


if __name__ == "__main__":
    source, *outputs = map(Path, sys.argv[1:])
    write(json.loads(source.read_text()), *outputs)
