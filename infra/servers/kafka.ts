import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { probeKafka } from '../../pipeline/log/kafka-client.ts'
import { ensureCached, ensureCommand, execute } from './install.ts'
import { type Server, SOURCES, writeConfigFile } from './server.ts'

const VERSION = '4.3.1'
/** The tool that formats the data folder of a new node. */
const FORMAT = ['kafka.tools.StorageTool', 'format', '--ignore-formatted']

/** Apache Kafka with one node. Its jars come from Maven's registry. */
export const kafka: Server = {
  name: 'kafka',
  title: 'Kafka',
  ports: (base) => ({ port: base, controller: base + 1 }),
  async prepare({ dir, portBase, user }) {
    const java = await ensureCommand('java', 'default-jre-headless')
    const jars = await kafkaJars()
    const properties = join(dir, 'server.properties')
    const filled = readFileSync(new URL('servers/kafka-server.properties', SOURCES), 'utf8')
      .replaceAll('@PORT@', String(portBase))
      .replaceAll('@CONTROLLER_PORT@', String(portBase + 1))
      .replaceAll('@DATA@', join(dir, 'data'))
    writeConfigFile(properties, filled, user)
    const logging = join(dir, 'log4j2.properties')
    const loggers = readFileSync(new URL('servers/kafka-log4j2.properties', SOURCES), 'utf8')
    writeConfigFile(logging, loggers, user)
    const classPath = ['-cp', `${jars}/*`]
    if (!existsSync(join(dir, 'data/meta.properties')))
      await execute(java, [...classPath, ...FORMAT, '-t', clusterId(), '-c', properties], {
        cwd: dir,
        user,
      })
    return {
      file: java,
      args: [
        '-Xmx512m',
        '-Xms256m',
        '-XX:+UseSerialGC',
        '-XX:TieredStopAtLevel=1',
        `-Dlog4j2.configurationFile=${pathToFileURL(logging)}`,
        ...classPath,
        'kafka.Kafka',
        properties,
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

/** The folder with the jars of Kafka's server or tools, which are downloaded once. */
export function kafkaJars(part: 'server' | 'tools' = 'server'): Promise<string> {
  const name = part === 'server' ? `kafka-${VERSION}` : `kafka-tools-${VERSION}`
  return ensureCached(name, (folder) => downloadJars(folder, part))
}

async function downloadJars(folder: string, part: 'server' | 'tools'): Promise<void> {
  const maven = await ensureCommand('mvn', 'maven')
  const server = readFileSync(new URL('servers/kafka-pom.xml', SOURCES), 'utf8')
  const pom = part === 'server' ? server : server.replace('>kafka_2.13<', '>kafka-tools<')
  writeFileSync(join(folder, 'pom.xml'), pom)
  process.stderr.write(`downloading Kafka ${VERSION}\n`)
  const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:2.8:copy-dependencies'
  await execute(maven, ['-q', '-B', plugin, '-DincludeScope=runtime', '-DoutputDirectory=.'], {
    cwd: folder,
  })
}

/** 16 random bytes as base64url. The id may not begin with a dash. */
function clusterId(): string {
  return `A${randomBytes(16).toString('base64url').slice(1)}`
}
