#!/bin/sh
# Starts ClickHouse with the users of infra/clickhouse, the read-only one when it has a password (decisions J9).
set -eu
cp /tracked-wallets/users.d/service.xml /tracked-wallets/no-default-user.xml /etc/clickhouse-server/users.d/
if [ -n "${ANALYST_PASSWORD:-}" ]; then
  cp /tracked-wallets/users.d/analyst.xml /etc/clickhouse-server/users.d/
else
  rm -f /etc/clickhouse-server/users.d/analyst.xml
fi
exec /entrypoint.sh
