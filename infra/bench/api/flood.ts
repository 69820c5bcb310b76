import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { WebSocket } from 'ws'
import { print } from '../kit/figures.ts'

/**
 * A customer who exceeds his limit, as a separate process. It sends `RATE` requests per second for
 * the paths of the file `PATHS` in turn, from ten addresses behind a proxy, independent of response
 * times. A feed connection asks for history after `AFTER` ten times a second, and is opened again
 * when it is closed. At SIGTERM it prints `answers=` with their number by status.
 */
const { TARGET = '', KEY = '', PATHS = '', AFTER = '', RATE = '1000' } = process.env
const paths = JSON.parse(readFileSync(PATHS, 'utf8')) as string[]
const pool = new Pool(TARGET, { connections: 256 })
const answers: Record<string, number> = {}
let isOver = false

function count(status: string): void {
  answers[status] = (answers[status] ?? 0) + 1
}

async function ask(number: number): Promise<void> {
  const address = `198.51.100.${1 + (number % 10)}`
  const headers = { authorization: `Bearer ${KEY}`, 'x-forwarded-for': address }
  const path = paths[number % paths.length] ?? ''
  try {
    const answer = await pool.request({ method: 'GET', path, headers })
    count(String(answer.statusCode))
    await answer.body.dump()
  } catch {
    count('failed')
  }
}

/** Resolves when the connection has ended. */
function subscribeOften(): Promise<void> {
  const headers = { authorization: `Bearer ${KEY}`, 'x-forwarded-for': '198.51.100.1' }
  const socket = new WebSocket(`${TARGET.replace('http', 'ws')}/ws`, { headers })
  const subscribe = JSON.stringify({ action: 'subscribe', channels: ['trades'], after: AFTER })
  const timer = setInterval(() => {
    if (isOver) socket.terminate()
    else if (socket.readyState === WebSocket.OPEN) socket.send(subscribe)
  }, 100)
  socket.on('open', () => count('feed opened'))
  socket.on('error', () => {}) // refused; the server closes it
  return new Promise((resolve) => {
    socket.on('close', () => {
      clearInterval(timer)
      resolve()
    })
  })
}

process.once('SIGTERM', () => {
  isOver = true
})
const feed = (async () => {
  while (!isOver) {
    await subscribeOften()
    await pause(100)
  }
})()
const requests: Promise<void>[] = []
const started = performance.now()
print('started=1')
while (!isOver) {
  const due = ((performance.now() - started) * Number(RATE)) / 1000
  while (requests.length < due) requests.push(ask(requests.length))
  await pause(2)
}
await pool.destroy() // requests without an answer by now fail
await Promise.all(requests)
await feed
print(`answers=${JSON.stringify(answers)}`)
