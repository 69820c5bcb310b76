import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { startProcess } from '../../whole-service/service-process.ts'
import { percentiles, print, printHead, printRow, sum } from '../kit/figures.ts'
import { arrivals } from './arrivals.ts'

/** The service, and the keys of its customers; the first key is that of the flooding customer. */
export interface NeighbourOptions {
  readonly url: string
  readonly keys: readonly string[]
  readonly mints: readonly string[]
  /** A position of the feed that has some trades after it. */
  readonly after: string
  /** Folder for files of the bench. */
  readonly folder: string
}

/** Ten times the default limit of an account a minute. */
const FLOOD_PER_SECOND = 1000
/** Requests a second of each other customer. */
const REQUESTS_PER_SECOND = 5
const RESUMED_TRADES = 100

/**
 * Latencies of other customers at a quiet pace, alone and while one customer floods: cached
 * responses, pages of swaps that no cache has (one in ten), and resumes of the feed from storage.
 */
export async function measureNeighbours(shared: NeighbourOptions, seconds: number): Promise<void> {
  const { url, keys, mints, after, folder } = shared
  const [greedy = '', ...others] = keys
  let pages = 0
  /** Never the same page: mint and limit differ. */
  const uncached = () => {
    const page = pages++
    return `/tokens/${mints[page % mints.length]}/swaps?limit=${100 + Math.floor(page / mints.length)}`
  }
  const pathsOf = (count: number, uncachedPart: number) =>
    Array.from({ length: count }, (_, at) => {
      if (at % 10 < uncachedPart * 10) return uncached()
      return HOT[at % HOT.length] ?? ''
    })
  const quiet = async (name: string) => {
    const before = loadavg()[0] ?? 0
    const [answers, resumes] = await Promise.all([
      Promise.all(
        others.map((key) => {
          const paths = pathsOf(REQUESTS_PER_SECOND * seconds, 0.1)
          const pace = { seconds, connections: 16, perSecond: REQUESTS_PER_SECOND }
          return arrivals({ url, key, paths, ...pace })
        }),
      ),
      resumeOften({ url, keys: others, after }, seconds),
    ])
    const failed = sum(answers.map((one) => one.failed + one.refused))
    const rest = answers.flatMap(({ times }) => times)
    printRow(name, told(rest), told(resumes), failed, before.toFixed(1))
    return [rest, resumes].map((times) => percentiles(times, 0.99)[0])
  }

  print(`\n${others.length} others, ${REQUESTS_PER_SECOND} requests a second each, ${seconds} s`)
  printHead('', 'answers, p50 / p99 ms', 'resumes of the feed, p50 / p99 ms', 'failed', 'load')
  await quiet('to warm up')
  const idle = await quiet('alone')
  const file = join(folder, 'flood.json')
  writeFileSync(file, JSON.stringify(pathsOf(20_000, 0.5)))
  const flood = startProcess('infra/bench/api/flood.js', {
    TARGET: url,
    KEY: greedy,
    AFTER: after,
    RATE: String(FLOOD_PER_SECOND),
    PATHS: file,
  })
  await flood.line('started')
  const flooded = await quiet('beside one at ten times his limit')
  const answers = flood.line('answers')
  await flood.stop()
  print(`the one was answered: ${await answers}`)
  for (const [index, what] of ['answers', 'resumes'].entries()) {
    const aim = Math.max(25, 2 * (idle[index] ?? 0))
    const isKept = (flooded[index] ?? 0) < aim
    print(`${what}: p99 aim ${aim.toFixed(1)} ms ${isKept ? 'kept' : 'missed'}`)
  }
}

const HOT = ['/wallets', '/trades', '/wallets/W1/metrics', '/tokens/held', '/wallets?page=2']

/**
 * One resume a second, of one customer after the other; milliseconds from the subscription to the
 * last trade.
 */
async function resumeOften(
  of: { readonly url: string; readonly keys: readonly string[]; readonly after: string },
  seconds: number,
): Promise<number[]> {
  const resumed: Promise<number>[] = []
  for (let count = 0; count < seconds; count++) {
    resumed.push(resume(of.url, of.keys[count % of.keys.length] ?? '', of.after))
    await pause(1000)
  }
  return Promise.all(resumed)
}

function resume(url: string, key: string, after: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` }
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers })
  return new Promise((resolve) => {
    let [started, trades] = [0, 0]
    socket.on('open', () => {
      started = performance.now()
      socket.send(JSON.stringify({ action: 'subscribe', channels: ['trades'], after }))
    })
    socket.on('message', (data: Buffer) => {
      if (!data.includes('"channel":"trades"') || ++trades < RESUMED_TRADES) return
      resolve(performance.now() - started)
      socket.terminate()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(Number.POSITIVE_INFINITY)) // refused, or cut by the next one
  })
}

function told(times: readonly number[]): string {
  return percentiles(times, 0.5, 0.99)
    .map((ms) => ms.toFixed(1))
    .join(' / ')
}
