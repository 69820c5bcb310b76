#!/usr/bin/env bash
# Validates the manifests against the schemas of Kubernetes 1.37 and of the oldest version that
# README.md names, without unknown fields. kubernetes-validate (PyPI) brings the schemas.
set -euo pipefail
cd "$(dirname "$0")"
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
python3 -c 'import ensurepip' 2>/dev/null || apt-get install -y -qq python3-venv >/dev/null
python3 -m venv "$tools"
"$tools/bin/pip" install -q --no-compile --disable-pip-version-check kubernetes-validate==1.37.0
manifests=$(ls *.yaml | grep -vx kustomization.yaml) # which is not a resource of the cluster
for version in 1.30 1.37; do
  "$tools/bin/kubernetes-validate" --strict --kubernetes-version "$version" $manifests
done
