#!/usr/bin/env bash
# Runs docker-compose.yml as infra/docker/README.md says, over the simulated market, and checks what
# must hold of its containers (containers.test.ts). It runs a Docker daemon of its own, installs
# what it needs (root on Debian; apt-get, npm, Maven, Go), makes the base images (base-images.sh),
# and removes containers, networks and volumes at the end. Images and tools stay in CACHE. Four
# ports from PORT_BASE, on loopback. Needs a build in dist. Exits with 77 where the machine runs no
# containers.
set -euo pipefail
cd "$(dirname "$0")/../.."
: "${CACHE:=/var/cache/tracked-wallets-containers}" "${PORT_BASE:=27900}"
readonly COMPOSE_VERSION=v2.40.3
work=$(mktemp -d)
daemon= simulator=
export DOCKER_HOST=unix://$work/docker.sock DOCKER_CONFIG=$CACHE/docker DEBIAN_FRONTEND=noninteractive

could_not_run() {
  printf 'containers cannot run here: %s\n' "$1" >&2
  exit 77
}
say() { printf '%4d s: %s\n' "$SECONDS" "$1" >&2; }

# Removes what docker-compose.yml makes, also what a killed run left behind.
remove_project() {
  local made=label=com.docker.compose.project=tracked-wallets
  docker ps --all --quiet --filter "$made" | xargs -r docker rm --force --volumes
  docker volume ls --quiet --filter "$made" | xargs -r docker volume rm
  docker network ls --quiet --filter "$made" | xargs -r docker network rm
  docker image prune --force
} >/dev/null

stop() {
  [ -z "$daemon" ] || remove_project 2>/dev/null || true
  [ -z "$simulator" ] || kill "$simulator" 2>/dev/null || true
  [ -z "$daemon" ] || { kill "$daemon" 2>/dev/null && wait "$daemon" 2>/dev/null; } || true
  rm -rf "$work"
}
trap stop EXIT

# Docker's daemon with its own files, sockets and processes. It may not give a container more open
# files than this process may have.
start_daemon() {
  local files
  files=$(ulimit -Hn)
  [ "$files" != unlimited ] || files=1048576
  dockerd --host "$DOCKER_HOST" --data-root "$CACHE/data" --exec-root "$work/exec" --pidfile "$work/docker.pid" \
    --oom-score-adjust 0 --default-ulimit "nofile=$files:$files" >"$work/docker.log" 2>&1 &
  daemon=$!
  for _ in $(seq 120); do
    docker version >/dev/null 2>&1 && return
    kill -0 "$daemon" 2>/dev/null || break
    sleep 0.5
  done
  could_not_run "dockerd does not start: $(tail -n 3 "$work/docker.log")"
}

# The smallest container with all restrictions that docker-compose.yml asks for.
try_container() {
  local files
  files=$(ldd /usr/bin/true | grep -o '/[^ ]*')
  tar --create --dereference --file - /usr/bin/true $files 2>/dev/null | docker import - probe >/dev/null
  docker run --rm --init --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges:true \
    --memory 64m --pids-limit 16 --user 1000 probe /usr/bin/true >"$work/probe.log" 2>&1 ||
    could_not_run "$(tail -n 1 "$work/probe.log")"
}

# The compose plugin, built from its source: apt-get has none.
compose_plugin() {
  local plugin=$DOCKER_CONFIG/cli-plugins/docker-compose source
  [ ! -x "$plugin" ] || [ "$("$plugin" version --short)" != "${COMPOSE_VERSION#v}" ] || return 0
  source=$(go mod download -json "github.com/docker/compose/v2@$COMPOSE_VERSION" | sed -nE 's/.*"Dir": "(.*)".*/\1/p')
  cp -r "$source" "$work/compose" && chmod -R u+w "$work/compose"
  mkdir -p "$(dirname "$plugin")"
  (cd "$work/compose" && CGO_ENABLED=0 go build -trimpath -o "$plugin" \
    -ldflags "-s -w -X github.com/docker/compose/v2/internal.Version=$COMPOSE_VERSION" ./cmd)
}

# What a new operator does, with the README's commands, in a folder that has only the project's
# files. The override is for this machine: the network of the build, and the limit of open files.
prepare_checkout() {
  mkdir "$work/checkout"
  : >"$work/chain.env"
  git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$work/checkout"
  # The gateway is the first address of its network. Docker 20 names it only after its second start.
  local network
  network=$(docker network inspect bridge -f '{{(index .IPAM.Config 0).Subnet}}')
  node dist/infra/simulator/main.js --host "${network%.*}.1" \
    --wallets-file "$work/checkout/wallets.txt" >"$work/chain.env" 2>"$work/simulator.log" &
  simulator=$!
  for _ in $(seq 300); do
    grep -q '^WALLETS_FILE=' "$work/chain.env" && break
    kill -0 "$simulator" || { cat "$work/simulator.log" >&2 && exit 1; }
    sleep 0.2
  done
  cd "$work/checkout"
  cp infra/docker/env.example .env && chmod 600 .env
  local key
  for key in YELLOWSTONE_ENDPOINT SOLANA_RPC_URL PAYMENT_ADDRESS_PRO PAYMENT_ADDRESS_CREDITS; do
    sed -i "s|^$key=.*|$(grep "^$key=" "$work/chain.env")|" .env
  done
  infra/docker/make-secrets.sh
  local files
  files=$(ulimit -Hn)
  cat >docker-compose.override.yml <<END
services:
  ingest: &built { build: { network: host } }
  workers: *built
  api: *built
  webhooks: *built
  migrate: *built
  operator: *built
$([ "$files" = unlimited ] || [ "$files" -ge 262144 ] || echo "  clickhouse: { ulimits: { nofile: { soft: $files, hard: $files } } }")
END
}

[ "$(id -u)" = 0 ] || could_not_run 'it needs root'
docker -H unix:///var/run/docker.sock version >/dev/null 2>&1 && could_not_run 'another Docker daemon runs on this machine'
mkdir -p "$CACHE"
exec 9>"$CACHE/lock"
flock --nonblock 9 || could_not_run 'another run is under way'
if ! command -v dockerd >/dev/null || ! command -v mmdebstrap >/dev/null; then
  say 'installing Docker'
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends docker.io mmdebstrap >/dev/null
fi
command -v go >/dev/null || could_not_run 'the compose plugin needs Go 1.24'

start_daemon 9>&-
try_container
remove_project
say 'base images, and the compose plugin'
compose_plugin 9>&- &
plugin=$!
infra/docker/base-images.sh
wait "$plugin"

root=$PWD
prepare_checkout
export API_PORT=$PORT_BASE CLICKHOUSE_PORT=$((PORT_BASE + 1)) PROMETHEUS_PORT=$((PORT_BASE + 2)) ALERTMANAGER_PORT=$((PORT_BASE + 3))
docker compose config --quiet # against the compose specification
say 'docker compose up --build -d'
docker compose --progress plain up --build -d >"$work/up.log" 2>&1 || {
  tail -n 40 "$work/up.log"
  docker compose logs --tail 20
  exit 1
}
say 'checks'
cd "$root"
status=0
CONTAINERS=$work/checkout npx ava --timeout 10m dist/infra/docker/containers.test.js || status=$?
[ "$status" -eq 0 ] || (cd "$work/checkout" && docker compose ps --all && docker compose logs --tail 20) >&2
say 'end'
exit "$status"
