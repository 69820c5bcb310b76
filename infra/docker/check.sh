#!/usr/bin/env bash
# Checks the container files without a Docker daemon: docker-compose.yml against the schema of the
# compose specification, and every step of the Dockerfile by executing it.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
python3 -m venv "$tools"
"$tools/bin/pip" install -q --no-compile --disable-pip-version-check check-jsonschema==0.39.0
"$tools/bin/check-jsonschema" --builtin-schema vendor.compose-spec docker-compose.yml
node dist/infra/docker/dry-run.js
