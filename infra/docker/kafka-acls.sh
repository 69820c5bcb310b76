#!/bin/bash
# Sets the Kafka permissions of each role (docker-compose.yml). Kafka refuses everything else. Every
# role may create a missing topic, read it in consumer groups whose names begin with the name of the
# topic, and read the settings of brokers. Ingest and operators may write to the events, and ingest
# may lead. Workers may write to the states.
set -euo pipefail
umask 077
: "${KAFKA_HOME:=/opt/kafka}" "${BOOTSTRAP:=kafka:9092}" "${PASSWORD_FILE:=/run/secrets/kafka_password_broker}"
config=${CONFIG:-/dev/shm/admin.properties}
printf 'security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config=%s username="broker" password="%s";\n' \
  'org.apache.kafka.common.security.plain.PlainLoginModule required' "$(tr -d '\n' <"$PASSWORD_FILE")" >"$config"

# allow "USERS" OPERATIONS... -- RESOURCE...
allow() {
  local rules=() user
  for user in $1; do rules+=(--allow-principal "User:$user"); done
  shift
  while [ "$1" != -- ]; do
    rules+=(--operation "$1")
    shift
  done
  shift
  "$KAFKA_HOME/bin/kafka-acls.sh" --bootstrap-server "$BOOTSTRAP" --command-config "$config" --force \
    --add "${rules[@]}" "$@"
}

topic=${KAFKA_TOPIC_PREFIX:-}wallet-events
states=${KAFKA_TOPIC_PREFIX:-}wallet-state
all='ingest workers api webhooks operator'
for one in "$topic" "$states"; do
  allow "$all" Read Describe DescribeConfigs Create -- --topic "$one"
  allow "$all" Read Describe Delete -- --group "$one." --resource-pattern-type prefixed
done
allow "$all" DescribeConfigs IdempotentWrite -- --cluster
allow 'ingest operator' Write -- --topic "$topic"
allow workers Write -- --topic "$states"
allow ingest Write Describe -- --transactional-id "$topic.ingest" # INGEST_FAILOVER
