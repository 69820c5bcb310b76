#!/bin/bash
# Starts Kafka with the users and passwords of /run/secrets/kafka_password_*. It writes them to a
# file in memory, so no password is in the environment or the arguments of a process.
set -euo pipefail
umask 077
: "${SECRETS:=/run/secrets}" "${RUN:=/dev/shm}" "${START:=/etc/kafka/docker/run}"
password() { tr -d '\n' <"$SECRETS/kafka_password_$1"; }
module='org.apache.kafka.common.security.plain.PlainLoginModule required'
{
  printf 'KafkaServer {\n  %s\n' "$module"
  printf '  username="broker"\n  password="%s"' "$(password broker)"
  for user in broker ingest workers api webhooks operator; do
    printf '\n  user_%s="%s"' "$user" "$(password "$user")"
  done
  printf ';\n};\n'
} >"$RUN"/jaas.conf
{
  printf 'security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n'
  printf 'sasl.jaas.config=%s username="broker" password="%s";\n' "$module" "$(password broker)"
} >"$RUN"/admin.properties
export KAFKA_OPTS="-Djava.security.auth.login.config=$RUN/jaas.conf"
exec $START
