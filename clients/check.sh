#!/usr/bin/env bash
# Checks the packages of customers: builds each, installs it in a fresh folder as a customer would,
# and tests what is installed, the samples of its README and the notebook of examples/ against the
# embedded service over the simulated market. Then programs with both follow a day of that market,
# with a block a minute; CLIENTS_PACE=calm follows it block by block, for most of an hour, and
# CLIENTS_HOURS (24) is how much of it. Needs a build (`npm run build`), npm, python3 with venv, and
# PyPI.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d)
export CLIENTS_FOLDER=$work/service PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
starting=
trap '[ -z "$starting" ] || wait "$starting" || true
  "$root/clients/service.sh" stop "$CLIENTS_FOLDER" || true
  rm -rf "$work"' EXIT

# The market trades while packages are built.
clients/service.sh start "$CLIENTS_FOLDER" >/dev/null &
starting=$!

say() { printf -- '--- %s (after %d s)\n' "$1" "$SECONDS"; }

say 'Python: build, lint, types'
cd clients/python
python3 -m venv "$work/venv"
python=$work/venv/bin/python
# The versions of the tools are in the dependency groups of pyproject.toml.
tools=$("$python" -c "
import tomllib
project = tomllib.load(open('pyproject.toml', 'rb'))
groups = project['dependency-groups']
print('\n'.join(project['build-system']['requires'] + groups['dev'] + groups['notebook']))")
"$python" -m pip install -q --no-compile $tools
"$python" -m hatchling build --target wheel --directory "$work/dist" 2>"$work/build.log" || { cat "$work/build.log"; exit 1; }
"$python" -m pip install -q --no-compile "$work"/dist/*.whl
"$work/venv/bin/ruff" format --no-cache --config pyproject.toml --check . "$root/examples"
"$work/venv/bin/ruff" check --no-cache --config pyproject.toml . "$root/examples"
"$work/venv/bin/mypy" --cache-dir "$work/mypy"

wait "$starting"
told() { sed -n "s/^$1=//p" "$CLIENTS_FOLDER/out"; }
CLIENTS_URL=$(told url) CLIENTS_KEY=$(told api_key)
CLIENTS_VERSION=$(node -p "require('$root/package.json').version")
export CLIENTS_URL CLIENTS_KEY CLIENTS_VERSION
for _ in $(seq 240); do
  curl -fs -H "Authorization: Bearer $CLIENTS_KEY" "$CLIENTS_URL/trades?limit=50" | grep -q '"count":50' && break
  sleep 0.5
done

say 'Python: tests of the installed wheel'
"$python" -m pytest -p no:cacheprovider --durations=3

say 'TypeScript: build, types and tests of the installed package'
cd "$root/clients/typescript"
npm pack --silent --pack-destination "$work" >"$work/pack.log" 2>&1 || { cat "$work/pack.log"; exit 1; }
mkdir "$work/customer"
cd "$work/customer"
echo '{ "type": "module", "private": true }' >package.json
npm install --silent --no-audit --no-fund "$work"/tracked-wallets-client-*.tgz
[ "$(ls node_modules)" = $'tracked-wallets-client\nws' ] || { ls node_modules; exit 1; }
cp "$root"/clients/typescript/tests/* .
for libraries in es2023,dom,dom.iterable es2023,dom; do
  "$root/node_modules/.bin/tsc" --strict --noEmit --skipLibCheck false --exactOptionalPropertyTypes \
    --target es2023 --lib "$libraries" --module nodenext --types '' types.ts
done
node --test package.test.mjs samples.test.mjs readme.test.mjs

say 'TypeScript: the same with the WebSocket of browsers'
cp node_modules/tracked-wallets-client/dist/feed-socket.js "$work"
cp node_modules/tracked-wallets-client/dist/feed-socket{-browser,}.js
NODE_OPTIONS=--experimental-websocket node --test --test-name-pattern 'feed|refusal' package.test.mjs
mv "$work/feed-socket.js" node_modules/tracked-wallets-client/dist

say 'Both packages over a day of the simulated market, with cuts, kills and restarts'
cd "$root"
clients/service.sh stop "$CLIENTS_FOLDER"
node dist/infra/simulate/main.js --seed 6 --hours "${CLIENTS_HOURS:-24}" --pace "${CLIENTS_PACE:-minutes}" --packages "$work"
say 'done'
