import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { probeKafka } from '../../pipeline/log/kafka-client.ts'
import { ensureCached, ensureCommand, execute } from './install.ts'
import { type Server, type ServerSettings, SOURCES, writeConfigFile } from './server.ts'

const VERSION = '4.3.1'
/** The tool that formats the data folder of a new node. */
const FORMAT = ['kafka.tools.StorageTool', 'format', '--ignore-formatted']

/** A node of Kafka: its id, and the distance of its two ports from the first port of the folder. */
interface KafkaNode {
  readonly id: number
  readonly offset: number
}

const NODES: readonly KafkaNode[] = [
  { id: 1, offset: 0 },
  { id: 2, offset: 4 },
  { id: 3, offset: 6 },
]

/** Apache Kafka with one node. Its jars come from Maven's registry. */
export const kafka: Server = nodeOf(NODES.slice(0, 1), 0, '512m', '256m')

/**
 * Apache Kafka with three nodes, each broker and controller. Topics that do not say otherwise, and
 * Kafka's own, have three replicas. Two must have a write before it is acknowledged.
 */
export const kafkaCluster: readonly Server[] = NODES.map((_, index) =>
  nodeOf(NODES, index, '384m', '128m'),
)

/** One of `nodes`. `maxHeap` and `heap` are sizes as Java reads them. */
function nodeOf(nodes: readonly KafkaNode[], index: number, maxHeap: string, heap: string): Server {
  const { id, offset } = nodes[index] as KafkaNode // the callers count the nodes
  const isSingle = nodes.length === 1
  const addresses = (base: number) => nodes.map((node) => `127.0.0.1:${base + node.offset}`)
  return {
    name: isSingle ? 'kafka' : `kafka-${id}`,
    kind: 'kafka',
    title: isSingle ? 'Kafka' : `Kafka ${id}`,
    ports: (base) => ({ port: base + offset, controller: base + offset + 1 }),
    async prepare(settings) {
      const { dir, kafkaClusterId, user } = settings
      const java = await ensureCommand('java', 'default-jre-headless')
      const jars = await kafkaJars()
      const properties = join(dir, 'server.properties')
      writeConfigFile(properties, propertiesOf(nodes, index, settings), user)
      const logging = join(dir, 'log4j2.properties')
      const loggers = readFileSync(new URL('servers/kafka-log4j2.properties', SOURCES), 'utf8')
      writeConfigFile(logging, loggers, user)
      const classPath = ['-cp', `${jars}/*`]
      if (!existsSync(join(dir, 'data/meta.properties')))
        await execute(java, [...classPath, ...FORMAT, '-t', kafkaClusterId, '-c', properties], {
          cwd: dir,
          user,
        })
      return {
        file: java,
        args: [
          `-Xmx${maxHeap}`,
          `-Xms${heap}`,
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
        brokers: [`127.0.0.1:${portBase + offset}`],
        topicPrefix: '',
        ssl: false,
        sasl: null,
      }),
    env: ({ portBase }) => ({ KAFKA_BROKERS: addresses(portBase).join(',') }),
  }
}

function propertiesOf(
  nodes: readonly KafkaNode[],
  index: number,
  { dir, portBase }: ServerSettings,
): string {
  const { id, offset } = nodes[index] as KafkaNode // as above
  const voters = nodes.map((node) => `${node.id}@127.0.0.1:${portBase + node.offset + 1}`)
  const values: Readonly<Record<string, string | number>> = {
    NODE: id,
    VOTERS: voters.join(','),
    PORT: portBase + offset,
    CONTROLLER_PORT: portBase + offset + 1,
    DATA: join(dir, 'data'),
    REPLICAS: nodes.length,
    IN_SYNC: Math.max(1, nodes.length - 1),
  }
  return readFileSync(new URL('servers/kafka-server.properties', SOURCES), 'utf8').replace(
    /@(\w+)@/g,
    (_, name: string) => String(values[name]),
  )
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
