import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { probeKafka } from '../../pipeline/log/kafka-client.ts'
import { ensureCached, ensureCommand, run } from './install.ts'
import { type Server, SOURCES } from './server.ts'

const VERSION = '4.3.1'

/** Apache Kafka, one node, its jars from Maven's registry. */
export const kafka: Server = {
  name: 'kafka',
  title: 'Kafka',
  ports: (base) => ({ port: base, controller: base + 1 }),
  async prepare({ dir, portBase }) {
    const java = await ensureCommand('java', 'default-jre-headless')
    const jars = await ensureCached(`kafka-${VERSION}`, downloadJars)
    const properties = join(dir, 'server.properties')
    const filled = readFileSync(new URL('servers/kafka-server.properties', SOURCES), 'utf8')
      .replaceAll('@PORT@', String(portBase))
      .replaceAll('@CONTROLLER_PORT@', String(portBase + 1))
      .replaceAll('@DATA@', join(dir, 'data'))
    writeFileSync(properties, filled)
    const classPath = ['-cp', `${jars}/*`]
    if (!existsSync(join(dir, 'data/meta.properties')))
      await run(java, [
        ...classPath,
        ...['kafka.tools.StorageTool', 'format', '--ignore-formatted'],
        ...['-t', clusterId(), '-c', properties],
      ])
    return {
      file: java,
      args: [
        ...['-Xmx512m', '-Xms256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'],
        `-Dlog4j2.configurationFile=${new URL('servers/kafka-log4j2.properties', SOURCES)}`,
        ...classPath,
        ...['kafka.Kafka', properties],
      ],
    }
  },
  probe: ({ portBase }) =>
    probeKafka({
      brokers: [`127.0.0.1:${portBase}`],
      topicPrefix: '',
      ssl: false,
      sasl: null,
    }),
  env: ({ portBase }) => ({ KAFKA_BROKERS: `127.0.0.1:${portBase}` }),
}

async function downloadJars(folder: string): Promise<void> {
  const maven = await ensureCommand('mvn', 'maven')
  cpSync(fileURLToPath(new URL('servers/kafka-pom.xml', SOURCES)), join(folder, 'pom.xml'))
  process.stderr.write(`downloading Kafka ${VERSION}\n`)
  const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:2.8:copy-dependencies'
  await run(maven, ['-q', '-B', plugin, '-DincludeScope=runtime', '-DoutputDirectory=.'], folder)
}

/** 16 random bytes as base64url; it may not begin with a dash. */
function clusterId(): string {
  return `A${randomBytes(16).toString('base64url').slice(1)}`
}
