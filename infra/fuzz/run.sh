#!/usr/bin/env bash
# Runs schemathesis against the embedded service over the simulated market, with all its checks: see
# README.md. Needs python3 with venv, and `npm run build` before.
# FUZZ_SECONDS (60) is its time, FUZZ_SEED (1) its seed.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
service=
trap '[ -z "$service" ] || kill "$service" 2>/dev/null || true; wait; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check -r infra/fuzz/requirements.txt

# The limit of requests is another step's; here it would refuse the fuzzer.
env -u CLICKHOUSE_URL -u KAFKA_BROKERS -u REDIS_URL PORT=0 METRICS_PORT=0 RATE_LIMIT_PER_MINUTE=0 LOGIN_RATE_LIMIT_PER_MINUTE=0 FAILED_AUTH_LIMIT_PER_MINUTE=0 \
  ACCOUNT_RATE_LIMIT_PER_MINUTE=0 ACCOUNT_CONCURRENT_REQUESTS=0 DASHBOARD_RATE_LIMIT_PER_MINUTE=0 DASHBOARD_CONCURRENT_REQUESTS=0 FIRST_CREDITS=1000000 LOG_LEVEL=warn DATA_DIR="$work/data" \
  node dist/infra/service/main.js >"$work/out" &
service=$!
told() { sed -n "s/^$1=//p" "$work/out"; }
for _ in $(seq 300); do [ -n "$(told api_key)" ] && break; sleep 0.1; done
FUZZ_URL=$(told url) FUZZ_KEY=$(told api_key)
export FUZZ_URL FUZZ_KEY
FUZZ_TOKEN=$(node --input-type=module -e "
  const { tokenOf, newWallet } = await import('$PWD/dist/api/testing/a-wallet.js')
  console.log(await tokenOf({ url: process.env.FUZZ_URL }, newWallet()))")
export FUZZ_TOKEN
# Makes the account, which has credits: without any it gets no webhook.
curl -fs -H "Authorization: Bearer $FUZZ_TOKEN" "$FUZZ_URL/me/api" >/dev/null

# Trades of some seconds, so that lists have pages.
for _ in $(seq 120); do
  sleep 0.5
  curl -fs -H "Authorization: Bearer $FUZZ_KEY" "$FUZZ_URL/trades?limit=50" | grep -q '"count":50' && break
done

# It leaves what it remembers in the folder it runs in.
cat >"$work/schemathesis.toml" <<END
hooks = "$PWD/infra/fuzz/hooks.py"
headers = { Authorization = "Bearer $FUZZ_KEY" }
# The dashboard is asked with a token; but for the logout, after which it would be none.
[[operations]]
include-path-regex = "^/(me|billing)/"
headers = { Authorization = "Bearer $FUZZ_TOKEN" }
END
chmod 600 "$work/schemathesis.toml"
cd "$work"
PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/schemathesis" run "$FUZZ_URL/openapi.json" \
  --seed "${FUZZ_SEED:-1}" --max-time "${FUZZ_SECONDS:-60}" \
  --checks all --max-response-time 5 --continue-on-failure --no-color
