#!/usr/bin/env bash
# The embedded service over the simulated market, for tests of clients. Needs `npm run build`.
#   clients/service.sh start FOLDER   starts it, and prints url= and api_key=; a second start in the
#                                     same folder is a restart: the same data, port and key
#   clients/service.sh stop FOLDER    stops it, and waits for its end
# Limits of requests are off, because tests come from one address. New accounts have credits, and
# webhooks may post to this machine.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
action=$1 folder=$2

start() {
  mkdir -p "$folder"
  [ -s "$folder/port" ] || node -p "
    const server = require('node:net').createServer().listen(0, '127.0.0.1', () => {
      console.log(server.address().port); server.close() })" | grep -E '^[0-9]+$' >"$folder/port"
  env -u CLICKHOUSE_URL -u KAFKA_BROKERS -u REDIS_URL PORT="$(<"$folder/port")" METRICS_PORT=0 \
    RATE_LIMIT_PER_MINUTE=0 FAILED_AUTH_LIMIT_PER_MINUTE=0 ACCOUNT_RATE_LIMIT_PER_MINUTE=0 \
    ACCOUNT_CONCURRENT_REQUESTS=0 SIMULATOR_HISTORY_HOURS=0 FIRST_CREDITS=1000 \
    WEBHOOK_LOOPBACK=true LOG_LEVEL=warn DATA_DIR="$folder/data" \
    node "$root/dist/infra/service/main.js" >"$folder/out" 2>"$folder/log" </dev/null &
  echo $! >"$folder/pid"
  for _ in $(seq 600); do
    grep -q '^api_key=' "$folder/out" && break
    kill -0 "$(<"$folder/pid")" 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
    sleep 0.1
  done
  grep -E '^(url|api_key)=' "$folder/out"
}

stop() {
  local pid
  pid=$(<"$folder/pid")
  kill "$pid" 2>/dev/null || return 0
  tail --pid="$pid" -f /dev/null
}

"$action"
