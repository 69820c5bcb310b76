#!/usr/bin/env bash
# Prints the images of docker-compose.yml and of the Dockerfile with their digests, as
# `name:tag@sha256:...`: a pinned image stays the same when its tag moves. --write edits both files.
# It asks a registry through docker buildx, skopeo or crane. It has never been run.
set -euo pipefail
cd "$(dirname "$0")/../.."
files=(docker-compose.yml infra/docker/Dockerfile)

digest() {
  if docker buildx version >/dev/null 2>&1; then
    docker buildx imagetools inspect --format '{{.Manifest.Digest}}' "$1"
  elif command -v skopeo >/dev/null; then
    skopeo inspect --format '{{.Digest}}' "docker://$1"
  elif command -v crane >/dev/null; then
    crane digest "$1"
  else
    echo 'needs docker buildx, skopeo or crane' >&2
    return 1
  fi
}

images=$(sed -nE 's/^ *image: ([^ @]+:[^ @]+)(@.*)?$/\1/p; s/^FROM ([^ @]+:[^ @]+)(@[^ ]+)?.*/\1/p' "${files[@]}" | sort -u)
for image in $images; do
  found=$(digest "$image")
  [[ $found =~ ^sha256:[0-9a-f]{64}$ ]] || { echo "$image: no digest: $found" >&2; exit 1; }
  echo "$image@$found"
  if [ "${1:-}" = --write ]; then
    sed -i -E "s#(image: |FROM )$image(@sha256:[0-9a-f]+)?( |\$)#\1$image@$found\3#" "${files[@]}"
  fi
done
