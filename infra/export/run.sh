#!/usr/bin/env bash
# Exports from a real ClickHouse (rule M4): DuckDB and polars read what the views of analysts have,
# with and without a salt; S3 has the bytes of the folder, also after kills; a second export is
# refused; and the keys of the bucket are in no statement. Needs python3 with venv, and `npm run
# build` before. EXPORT_ROWS (1500) are the rows of each table. It takes three minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
chmod 711 "$work" # the user of the server passes
bucket=
finish() {
  [ -z "$bucket" ] || kill "$bucket" 2>/dev/null || true
  node dist/infra/servers/main.js stop --data "$work/servers" >/dev/null 2>&1 || true
  wait
  rm -rf "$work"
}
trap finish EXIT
fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

python3 -c 'import ensurepip' 2>/dev/null || apt-get install -y -qq python3-venv >/dev/null
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check -r infra/export/requirements.txt
python="$work/venv/bin/python"
export PYTHONDONTWRITEBYTECODE=1

"$python" infra/export/bucket.py tracked-wallets >"$work/bucket.url" 2>"$work/bucket.log" &
bucket=$!
for _ in $(seq 200); do grep -q "^http:" "$work/bucket.url" && break; sleep 0.1; done
s3=$(grep "^http:" "$work/bucket.url")
secret=$(node -p 'crypto.randomUUID()')
EXPORT_S3_URL="$s3/tracked-wallets/" EXPORT_S3_ACCESS_KEY_ID="id-$secret" EXPORT_S3_SECRET_ACCESS_KEY="key-$secret" \
  node dist/infra/servers/main.js start --data "$work/servers" --only clickhouse --port-base "${EXPORT_PORT_BASE:-26000}" >"$work/env"
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
ask() { curl -fsS "${CLICKHOUSE_URL%/*}/?database=tracked_wallets" --data-binary "$1"; }
# export_to PLACE [OPTION...]: all tables of the filled days.
export_to() {
  DATA_DIR="$work/data" LOG_LEVEL=warn node dist/infra/operator/main.js export --from 2026-01-04 --to 2026-01-06 --table all --to-dir "$@"
}
written() { grep -o '"written":[0-9]*' "$1" | cut -d : -f 2 | awk '{n += $1} END {print n}'; }

fill "${EXPORT_ROWS:-1500}" ''
export_to "$work/folder" >"$work/folder.json" 2>/dev/null || fail "$(cat "$work/folder.json")"
"$python" infra/export/check.py "$work/folder" views "$CLICKHOUSE_URL"

export_to s3://tracked-wallets/a/b >"$work/s3.json" 2>/dev/null || fail "$(cat "$work/s3.json")"
"$python" infra/export/check.py "$work/folder" bucket "$s3" tracked-wallets a/b
export_to s3://tracked-wallets/a/b >"$work/again.json" 2>/dev/null || fail "$(cat "$work/again.json")"
[ "$(written "$work/s3.json") $(written "$work/again.json")" = '42 0' ] || fail "written twice: $(cat "$work/again.json")"

# A process is killed once it has written a day; the next one does the rest. Meanwhile a second one
# is refused.
for kill in 1 2 3; do
  mkfifo "$work/progress$kill"
  DATA_DIR="$work/data$kill" LOG_LEVEL=warn node dist/infra/operator/main.js export --from 2026-01-04 --to 2026-01-06 --table all \
    --to-dir s3://tracked-wallets/killed >"$work/killed.json" 2>"$work/progress$kill" &
  exporting=$!
  exec 9<"$work/progress$kill"
  for _ in $(seq "$kill"); do read -r _ <&9 || fail "the export ended too early: $(cat "$work/killed.json")"; done
  if [ "$kill" = 1 ]; then
    export_to s3://tracked-wallets/killed >"$work/second.json" 2>/dev/null && fail 'a second export was not refused'
    grep -q 'another export writes into this place' "$work/second.json" || fail "$(cat "$work/second.json")"
  fi
  kill -9 "$exporting" || fail 'the export ended too early'
  wait "$exporting" 2>/dev/null || true
  exec 9<&-
done
export_to s3://tracked-wallets/killed >"$work/rest.json" 2>/dev/null || fail "$(cat "$work/rest.json")"
"$python" infra/export/check.py "$work/folder" bucket "$s3" tracked-wallets killed

export_to s3://unknown-bucket >"$work/unknown.json" 2>/dev/null && fail 'an unknown bucket was not refused'
grep -q 'add the named collection export_unknown_bucket' "$work/unknown.json" || fail "$(cat "$work/unknown.json")"

fill 0 salt
export_to "$work/served" >"$work/served.json" 2>/dev/null || fail "$(cat "$work/served.json")"
"$python" infra/export/check.py "$work/served" views "$CLICKHOUSE_URL"

ask 'SYSTEM FLUSH LOGS query_log'
logged=$(ask "SELECT concat(toString(countIf(query LIKE '%s3(export_%')> 0), ' ', toString(countIf(position(concat(query, toString(Settings), exception), '$secret') > 0 AND query NOT LIKE '%FLUSH%' AND query NOT LIKE '%countIf%'))) FROM system.query_log")
[ "$logged" = '1 0' ] || [ "$logged" = 'true 0' ] || fail "query_log: $logged"
printf 'system.query_log has the statements, and no key of the bucket\n'
