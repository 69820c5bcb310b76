import { existsSync, renameSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
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

/**
 * Has a Redis server write its append-only file anew, as an operator does once a full disk has
 * space again. Redis 7 removes a write that was cut short, but goes on behind the removed bytes if
 * an earlier rewrite or a synchronisation made the file, and does not start with such a file.
 * Source: `openNewIncrAofForAppend` in aof.c, which opens it without O_APPEND. Resolves too if the
 * server has ended: then nothing follows what it removed.
 */
export async function rewriteAppendOnlyFile(port: number, password: string): Promise<void> {
  const ask = (command: string, end: string) =>
    askPort(port, `AUTH ${password}\r\n${command}\r\n`, end)
  try {
    await ask('BGREWRITEAOF\r\nPING', '+PONG\r\n') // it starts, or is scheduled
    for (const deadline = Date.now() + REWRITE_MS; Date.now() < deadline; await pause(POLL_MS)) {
      const found = await ask('INFO persistence', '\r\n\r\n')
      if (WRITTEN.every((pattern) => pattern.test(found))) return
    }
  } catch {
    return
  }
  throw new Error(`Redis on port ${port} has not written its file anew in ${REWRITE_MS / 1000} s`)
}

const REWRITE_MS = 30_000
const POLL_MS = 50
const WRITTEN = [
  /^aof_rewrite_in_progress:0\r$/m,
  /^aof_rewrite_scheduled:0\r$/m,
  /^aof_last_bgrewrite_status:ok\r$/m,
]

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
