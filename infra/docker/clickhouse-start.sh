#!/bin/sh
# Starts ClickHouse with the users of infra/clickhouse. It reads passwords from /run/secrets instead
# of the environment, and writes them as SHA-256. A user with a missing or empty password is left
# out (rule J9).
set -eu
umask 077
: "${SECRETS:=/run/secrets}" "${SOURCE:=/tracked-wallets}" "${TARGET:=/etc/clickhouse-server/users.d}"
secret_of() {
  case $1 in
    CLICKHOUSE_PASSWORD) echo clickhouse_password_owner ;;
    *_PASSWORD) echo "clickhouse_password_$(echo "${1%_PASSWORD}" | tr A-Z a-z)" ;;
  esac
}
cp "$SOURCE/no-default-user.xml" "$TARGET/"
for file in "$SOURCE"/users.d/*.xml; do
  target=$TARGET/$(basename "$file")
  key=$(sed -nE 's/.*<password from_env="([A-Z_]+)".*/\1/p' "$file")
  secret=$SECRETS/$(secret_of "$key")
  if [ -s "$secret" ]; then
    digest=$(tr -d '\n' <"$secret" | sha256sum | cut -d ' ' -f 1)
    sed -E "s|<password from_env=\"$key\"/>|<password_sha256_hex>$digest</password_sha256_hex>|" "$file" >"$target"
  else
    rm -f "$target"
  fi
done
chown -R clickhouse:clickhouse "$TARGET" 2>/dev/null || true
exec ${START:-/entrypoint.sh}
