#!/usr/bin/env bash
# Makes the secrets of docker-compose.yml, one file each, in ./secrets or the given folder. Existing
# secrets stay. To replace a secret, delete its file and the files that hold the same password.
# Only the owner can enter the folder. The files in it are readable by all, because containers mount
# them one by one and read them as other users.
set -euo pipefail
umask 077
command -v openssl >/dev/null || { echo "$0: install openssl first" >&2 && exit 1; }
dir=${1:-secrets}
mkdir -p "$dir"
chmod 700 "$dir"
cd "$dir"

# put NAME TEXT: writes a secret that is missing.
put() {
  [ -e "$1" ] || [ -n "$2" ] || { echo "$1: there is nothing to write" >&2 && exit 1; }
  [ -e "$1" ] || printf '%s\n' "$2" >"$1"
  chmod 444 "$1"
}
# password NAME: makes a password if it is missing, and prints it. An empty
# `clickhouse_password_analyst` means that there is no analyst.
password() {
  put "$1" "$(openssl rand -hex 24)"
  cat "$1"
}

put secret_key "$(openssl rand -hex 32)"
put trade_id_key "$(cat secret_key)"   # the same as before it had a file of its own
if [ ! -e jwt_keys ]; then
  key=$(openssl genpkey -algorithm ed25519 -outform DER | tail -c 32 | base64 | tr '+/' '-_' | tr -d '=')
  # The public key is the last 32 bytes of its DER form.
  public=$(printf '%s' "$key=" | tr '_-' '/+' | base64 -d | { printf '\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20'; cat; } |
    openssl pkey -inform DER -pubout -outform DER | tail -c 32 | base64 | tr '+/' '-_' | tr -d '=')
  put jwt_keys "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"$public\",\"d\":\"$key\"}]}"
fi

clickhouse=clickhouse:8123/tracked_wallets
put clickhouse_url_owner "http://tracked_wallets:$(password clickhouse_password_owner)@$clickhouse"
for user in ingest workers api webhooks reader; do
  put "clickhouse_url_$user" "http://$user:$(password "clickhouse_password_$user")@$clickhouse"
done
password clickhouse_password_analyst >/dev/null

password kafka_password_broker >/dev/null
for user in ingest workers api webhooks operator; do
  put "kafka_sasl_$user" "plain:$user:$(password "kafka_password_$user")"
done

# Ingest and workers connect to Redis without using it: the user `idle` may only connect.
put redis_url_api "redis://api:$(openssl rand -hex 24)@redis:6379"
put redis_url_webhooks "redis://webhooks:$(openssl rand -hex 24)@redis:6379"
put redis_url_idle "redis://idle:$(openssl rand -hex 24)@redis:6379"
of() { sed -E 's|^redis://[a-z]+:([^@]*)@.*|\1|' "redis_url_$1"; }
rm -f redis_users # it follows from the URLs, of which an older folder has fewer
put redis_users "user default off
user api on >$(of api) ~* &* +@all -@admin -@dangerous +info
user webhooks on >$(of webhooks) ~tw:{credits}:* ~tw:{webhooks}:* resetchannels +@all -@admin -@dangerous +info
user idle on >$(of idle) resetkeys resetchannels -@all +ping +info +hello +auth +client|setname"
