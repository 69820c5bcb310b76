#!/usr/bin/env bash
# Makes stand-ins for the official images that docker-compose.yml and the Dockerfile name, for
# machines that reach no image registry. They have the official names, users, paths, entry points
# and volumes, and software of apt-get, npm and Maven. docs/operating.md says what they cannot show.
# Needs root on Debian, a build in dist, and a Docker daemon of its own (DOCKER_HOST), because it
# takes the official names. An image stays as it is until its sources change.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

image_named() { sed -nE "s#^(FROM| *image:) ($1:[^ ]+).*#\2#p" docker-compose.yml infra/docker/Dockerfile | head -1; }
digest() { sha256sum | cut -c 1-16; }

# build IMAGE KEY: builds the Dockerfile on stdin, in $work/context, unless the image has this key.
build() {
  local image=$1 key=$2
  [ "$(docker image inspect -f '{{index .Config.Labels "key"}}' "$image" 2>/dev/null)" != "$key" ] || return 0
  echo "building a stand-in for $image" >&2
  mkdir -p "$work/context"
  prepare_"${3:-nothing}" "$work/context"
  DOCKER_BUILDKIT=0 docker build --quiet --label "key=$key" --tag "$image" --file - "$work/context" >/dev/null
  rm -rf "$work/context"
}
prepare_nothing() { :; }

# One Debian for all, because installing packages takes longest.
packages=ca-certificates,openjdk-17-jre-headless,prometheus,prometheus-alertmanager,python3,redis-server,tini,wget
base=stand-in-debian:$(digest <<<"$packages")
if ! docker image inspect "$base" >/dev/null 2>&1; then
  echo 'installing Debian packages for the stand-ins' >&2
  mmdebstrap --quiet --variant=minbase --include="$packages" bookworm - | docker import - "$base" >/dev/null
fi

# Node, npm, and what npm needs on this machine: its settings and certificates.
node=$(npx --yes --package=node@24 -- node -p process.execPath)
npm=$(npm root -g)/npm
prepare_node() {
  cp "$node" "$1/node"
  cp -r "$npm" "$1/npm"
  cp /etc/ssl/certs/ca-certificates.crt "$1/"
  touch "$1/.npmrc"
  [ ! -e ~/.npmrc ] || cp ~/.npmrc "$1/.npmrc"
}
build "$(image_named node)" "$({ echo "$base"; "$node" --version; cat "$npm/package.json" /etc/ssl/certs/ca-certificates.crt; } | digest)" node <<END
FROM $base
COPY node /usr/local/bin/
COPY npm /usr/local/lib/node_modules/npm
COPY ca-certificates.crt /etc/ssl/certs/
COPY .npmrc /root/
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && useradd --uid 1000 --create-home node
CMD ["node"]
END

# The official image makes its settings out of the environment with this same class.
jars=$(node --input-type=module -e "
  const { kafkaJars } = await import('$PWD/dist/infra/servers/kafka.js')
  console.log(await kafkaJars(), await kafkaJars('tools'))")
prepare_kafka() {
  mkdir -p "$1"/libs "$1"/bin "$1"/docker
  for folder in $jars; do cp -n "$folder"/*.jar "$1/libs/"; done
  cp infra/servers/kafka-log4j2.properties "$1/docker/log4j2.properties"
  local tool
  for tool in kafka-acls:AclCommand kafka-broker-api-versions:BrokerApiVersionsCommand; do
    printf '#!/bin/bash\nexec java -Xmx256m -cp "/opt/kafka/libs/*" org.apache.kafka.tools.%s "$@"\n' "${tool#*:}" >"$1/bin/${tool%:*}.sh"
  done
  cat >"$1/docker/run" <<'RUN'
#!/bin/bash
java=(java -Dlog4j2.configurationFile=/etc/kafka/docker/log4j2.properties -cp '/opt/kafka/libs/*')
export CLUSTER_ID=${CLUSTER_ID:-5L6g3nShT-eMCtK--X86sw}
result=$("${java[@]}" kafka.docker.KafkaDockerWrapper setup --default-configs-dir /etc/kafka/docker \
  --mounted-configs-dir /mnt/shared/config --final-configs-dir /opt/kafka/config 2>&1) ||
  grep -i 'already formatted' <<<"$result" || { echo "$result"; exit 1; }
exec "${java[@]}" -Xmx1G -Xms1G $KAFKA_OPTS kafka.Kafka /opt/kafka/config/server.properties
RUN
  chmod 755 "$1"/bin/* "$1/docker/run"
}
build "$(image_named apache/kafka)" "$({ echo "$base"; cat "$0" infra/servers/kafka-log4j2.properties; ls $jars; } | digest)" kafka <<END
FROM $base
COPY libs /opt/kafka/libs
COPY bin /opt/kafka/bin
COPY docker /etc/kafka/docker
RUN useradd --uid 1000 --create-home appuser && mkdir -p /opt/kafka/config /var/lib/kafka/data /etc/kafka/secrets /mnt/shared/config && chown -R appuser /opt/kafka/config /var/lib/kafka /etc/kafka /mnt/shared/config
USER appuser
VOLUME ["/etc/kafka/secrets", "/var/lib/kafka/data", "/mnt/shared/config"]
EXPOSE 9092
CMD ["/etc/kafka/docker/run"]
END

# ClickHouse out of the library of chDB (infra/servers/README.md). Its process opens a session as
# `default`, which the project removes, so the entry point adds that user again, for one session.
library=node_modules/@chdb/lib-linux-x64-gnu
prepare_clickhouse() {
  cp "$library/libchdb.so" infra/servers/clickhouse-launch.py "$1/"
  cp infra/servers/clickhouse-users.xml "$1/launcher.xml"
  cat >"$1/config.xml" <<'CONFIG'
<clickhouse>
  <user_directories><users_xml><path>users.xml</path></users_xml></user_directories>
  <max_server_memory_usage>4000000000</max_server_memory_usage>
</clickhouse>
CONFIG
  cat >"$1/users.xml" <<'USERS'
<clickhouse>
  <profiles><default/></profiles>
  <quotas><default/></quotas>
  <users><default><password/><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota></default></users>
</clickhouse>
USERS
  cat >"$1/entrypoint.sh" <<'ENTRY'
#!/bin/bash
set -eu
install -o clickhouse -m 600 /opt/chdb/launcher.xml /etc/clickhouse-server/users.d/zz-launcher.xml
# System log tables of an earlier run would prevent those of this one.
rm -rf /var/lib/clickhouse/data/system
chown -R clickhouse:clickhouse /var/lib/clickhouse
exec tini -- python3 /opt/chdb/clickhouse-launch.py /opt/chdb/libchdb.so "$(id -u clickhouse):$(id -g clickhouse)" \
  --config-file=/etc/clickhouse-server/config.xml --path=/var/lib/clickhouse --http_port=8123 \
  --listen_host=0.0.0.0 --log-level=warning \
  --query='SYSTEM START LISTEN HTTP; SELECT sleepEachRow(1) FROM numbers(1000000) SETTINGS max_block_size = 1 FORMAT Null'
ENTRY
  chmod 755 "$1/entrypoint.sh"
}
build "$(image_named clickhouse/clickhouse-server)" "$({ echo "$base"; cat "$0" infra/servers/clickhouse-{launch.py,users.xml} "$library/package.json"; } | digest)" clickhouse <<END
FROM $base
COPY libchdb.so clickhouse-launch.py launcher.xml /opt/chdb/
COPY config.xml users.xml /etc/clickhouse-server/
COPY entrypoint.sh /
RUN groupadd --system --gid 901 clickhouse && useradd --system --uid 901 --gid clickhouse --home-dir /var/lib/clickhouse clickhouse && mkdir -p /var/lib/clickhouse /etc/clickhouse-server/config.d /etc/clickhouse-server/users.d && chown clickhouse:clickhouse /var/lib/clickhouse
VOLUME /var/lib/clickhouse
EXPOSE 8123
ENTRYPOINT ["/entrypoint.sh"]
END

build "$(image_named redis)" "$(echo "$base" | digest)" <<END
FROM $base
RUN mkdir -p /data && chown redis:redis /data
VOLUME /data
WORKDIR /data
EXPOSE 6379
CMD ["redis-server"]
END

build "$(image_named prom/prometheus)" "$(echo "$base" | digest)" <<END
FROM $base
RUN mkdir -p /prometheus && chown nobody:nogroup /prometheus
USER nobody
VOLUME /prometheus
WORKDIR /prometheus
EXPOSE 9090
ENTRYPOINT ["/bin/prometheus"]
CMD ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]
END

build "$(image_named prom/alertmanager)" "$(echo "$base" | digest)" <<END
FROM $base
RUN ln -s prometheus-alertmanager /usr/bin/alertmanager && mkdir -p /alertmanager && chown nobody:nogroup /alertmanager
USER nobody
VOLUME /alertmanager
WORKDIR /alertmanager
EXPOSE 9093
ENTRYPOINT ["/bin/alertmanager"]
CMD ["--config.file=/etc/alertmanager/alertmanager.yml", "--storage.path=/alertmanager"]
END
