#!/usr/bin/env bash
# Exports from a real ClickHouse (rule M4): see README.md. Needs python3 with venv, and `npm run
# build` before. EXPORT_ROWS (300) are the rows of each table, EXPORT_PORT_BASE (26000) the first of
# its ports.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
chmod 711 "$work" # the user of the server passes
port_base=${EXPORT_PORT_BASE:-26000}
children=()
finish() {
  for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
  [ -z "${exporting:-}" ] || kill -9 "$exporting" 2>/dev/null || true # it may be stopped
  node dist/infra/servers/main.js stop --data "$work/servers" >/dev/null 2>&1 || true
  wait
  rm -rf "$work"
}
trap finish EXIT
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# While the server starts and is filled. Without compiling what is never imported.
python3 -c 'import ensurepip' 2>/dev/null || apt-get install -y -qq python3-venv >/dev/null
python="$work/venv/bin/python"
{ python3 -m venv "$work/venv" &&
  "$work/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check -r infra/export/requirements.txt; } &
installing=$!
children+=("$installing")

s3_port=$((port_base + 90)) # beside those of servers
s3="http://127.0.0.1:$s3_port"
secret=$(node -p 'crypto.randomUUID()')
EXPORT_S3_URL="$s3/tracked-wallets/" EXPORT_S3_ACCESS_KEY_ID="id-$secret" EXPORT_S3_SECRET_ACCESS_KEY="key-$secret" \
  node dist/infra/servers/main.js start --data "$work/servers" --only clickhouse --port-base "$port_base" >"$work/env"
unset CLICKHOUSE_URL KAFKA_BROKERS REDIS_URL
set -a && . "$work/env" && set +a

# fill ROWS SALT: fills the tables; with a salt it only sets it.
fill() {
  FILL_ROWS=$1 FILL_SALT=$2 node --input-type=module -e "
    const { createStore } = await import('$PWD/dist/pipeline/store/create-store.js')
    const { migrate } = await import('$PWD/dist/pipeline/store/migrate.js')
    const { fillDays } = await import('$PWD/dist/pipeline/testing/fill-days.js')
    const { CLICKHOUSE_URL, FILL_ROWS, FILL_SALT } = process.env
    const store = await createStore({ kind: 'clickhouse', url: new URL(CLICKHOUSE_URL) })
    await migrate(store)
    if (FILL_SALT === '') await fillDays(store, { day: 20457, rows: Number(FILL_ROWS) })
    else await store.insert('privacy_salt', [{ id: 0, salt: FILL_SALT, version: 2 }])
    await store.close()"
}
ask() { curl -sS "${CLICKHOUSE_URL%/*}/?database=tracked_wallets" --data-binary "$1"; }
operator() { DATA_DIR="$work/data" LOG_LEVEL=warn node dist/infra/operator/main.js "$@"; }
day=(--from 2026-01-05 --to 2026-01-05 --table all)
days=(--from 2026-01-04 --to 2026-01-06 --table swaps)
few=(--from 2026-01-05 --to 2026-01-05 --table swaps,transfers,lots,positions)
# exported NAME OPTION...: an export that has to be done. Its document is in NAME.json.
exported() {
  local document="$work/$1.json"
  operator export "${@:2}" >"$document" 2>/dev/null || fail "$1: $(cat "$document")"
}
# refused NAME EXPECTED OPTION...: an export that has to be refused.
refused() {
  local document="$work/$1.json"
  operator export "${@:3}" >"$document" 2>/dev/null && fail "$1: it was not refused"
  grep -q "$2" "$document" || fail "$1: $(cat "$document")"
}
written() { grep -o '"written":[0-9]*' "$work/$1.json" | cut -d : -f 2 | awk '{n += $1} END {print n}'; }
check() { "$python" infra/export/check.py "$@"; }

fill "${EXPORT_ROWS:-300}" ''
exported folder "${day[@]}" --to-dir "$work/folder"
exported days "${days[@]}" --to-dir "$work/days"
exported few "${few[@]}" --to-dir "$work/few"

wait "$installing" || fail 'the packages were not installed'
"$python" infra/export/bucket.py "$s3_port" tracked-wallets >"$work/bucket.out" 2>"$work/bucket.log" &
children+=("$!")
check "$work/folder" views "$CLICKHOUSE_URL"
for _ in $(seq 300); do grep -q ready "$work/bucket.out" && break; sleep 0.1; done

exported s3 "${day[@]}" --to-dir s3://tracked-wallets/a/b
check "$work/folder" bucket "$s3" tracked-wallets a/b
exported again "${few[@]}" --to-dir s3://tracked-wallets/a/b
[ "$(written s3) $(written again)" = '15 0' ] || fail "written twice: $(cat "$work/again.json")"

# A process is killed once it has written a table; the next one does the rest. Meanwhile a second
# one is refused.
for kill in 1 2; do
  mkfifo "$work/progress$kill"
  DATA_DIR="$work/data$kill" LOG_LEVEL=warn node dist/infra/operator/main.js export "${few[@]}" \
    --to-dir s3://tracked-wallets/killed >"$work/killed.json" 2>"$work/progress$kill" &
  exporting=$!
  exec 9<"$work/progress$kill"
  read -r _ <&9 || fail "the export ended too early: $(cat "$work/killed.json")"
  kill -STOP "$exporting" # its lock stays
  if [ "$kill" = 1 ]; then
    refused second 'another export writes into this place' "${few[@]}" --to-dir s3://tracked-wallets/killed
  fi
  kill -9 "$exporting" || fail 'the export ended too early'
  wait "$exporting" 2>/dev/null || true
  exec 9<&-
done
exported rest "${few[@]}" --to-dir s3://tracked-wallets/killed
[ "$(written rest)" -lt 4 ] || fail "the kills came too early: $(cat "$work/rest.json")"
check "$work/few" bucket "$s3" tracked-wallets killed

# A request that is slow is not sent twice: the first one would arrive after newer ones.
exported late "${days[@]}" --to-dir s3://tracked-wallets/late
check "$work/days" bucket "$s3" tracked-wallets late
[ "$(grep -c '^arrived: ' "$work/bucket.log")" = 3 ] || fail "$(grep '^arrived: ' "$work/bucket.log")"

refused unknown 'add the named collection export_unknown_bucket' "${day[@]}" --to-dir s3://unknown-bucket
ask "INSERT INTO FUNCTION s3('$s3/other/a', 'id', 'key', 'RawBLOB', 'text String') VALUES ('a')" >"$work/other"
grep -q ACCESS_DENIED "$work/other" || fail "another bucket: $(cat "$work/other")"

fill 0 salt
exported served "${day[@]}" --to-dir "$work/served"
check "$work/served" views "$CLICKHOUSE_URL"

ask 'SYSTEM FLUSH LOGS query_log'
logged=$(ask "SELECT concat(toString(countIf(query LIKE '%s3(export_%')> 0), ' ', toString(countIf(position(concat(query, toString(Settings), exception), '$secret') > 0 AND query NOT LIKE '%FLUSH%' AND query NOT LIKE '%countIf%'))) FROM system.query_log")
[ "$logged" = '1 0' ] || [ "$logged" = 'true 0' ] || fail "query_log: $logged"
printf 'system.query_log has the statements, and no key of the bucket\n'
