import { existsSync, renameSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { ensureCommand } from './install.ts'
import { giveTo } from './own-user.ts'
import { type Server, writeConfigFile } from './server.ts'

/** The folder in which Redis keeps its append-only files. */
const FILES = 'appendonlydir'

/** Redis of the distribution (tested with 7.0.15). Every write goes to its append-only file. */
export const redis: Server = {
  name: 'redis',
  kind: 'redis',
  title: 'Redis',
  ports: (base) => ({ port: base + 3 }),
  async prepare({ dir, portBase, secrets, user }) {
    const file = await ensureCommand('redis-server', 'redis-server')
    const data = join(dir, 'data')
    // An earlier version kept the append-only files beside the configuration.
    if (existsSync(join(dir, FILES))) {
      renameSync(join(dir, FILES), join(data, FILES))
      giveTo(user, join(data, FILES))
    }
    const config = join(dir, 'redis.conf')
    const lines = [
      'bind 127.0.0.1',
      `port ${portBase + 3}`,
      `requirepass ${secrets.redisPassword}`,
      `dir ${JSON.stringify(data)}`,
      'appendonly yes',
      'save ""',
    ]
    writeConfigFile(config, `${lines.join('\n')}\n`, user)
    return { file, args: [config] }
  },
  async probe({ portBase, secrets }) {
    // While Redis loads its data, it answers LOADING.
    const answer = await askPort(
      portBase + 3,
      `AUTH ${secrets.redisPassword}\r\nPING\r\n`,
      '+PONG\r\n',
    )
    if (!answer.endsWith('+PONG\r\n')) throw new Error(answer)
  },
  env: ({ portBase, secrets }) => ({
    REDIS_URL: `redis://:${secrets.redisPassword}@127.0.0.1:${portBase + 3}`,
  }),
}

/** Sends text to a local port, and returns the response up to `end` or an error line. */
export function askPort(port: number, text: string, end: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.setTimeout(2000, () => socket.destroy(new Error('no answer')))
    socket.on('data', (bytes) => {
      answer += bytes.toString()
      if (answer.endsWith(end) || /^-.*\r\n/m.test(answer)) socket.end()
    })
    socket.once('error', reject)
    socket.once('close', () => resolve(answer))
  })
}
