import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AbuseCase, type Exchange, fillPlaceholders, type Placeholders } from './case.ts'
import { type HttpAnswer, readAnswers } from './read-answers.ts'

/** Host and port of the service. */
export interface Endpoint {
  readonly host: string
  readonly port: number
}

/** The host and port of a URL. */
export function endpointOf(url: string): Endpoint {
  const { hostname, port, protocol } = new URL(url)
  return { host: hostname, port: Number(port || (protocol === 'https:' ? 443 : 80)) }
}

/** The outcome of a case. */
export interface CaseOutcome {
  readonly answers: readonly HttpAnswer[]
  /** Error codes and message types of the feed, in order. */
  readonly told: readonly string[]
  /** The feed's close code; null: none came. */
  readonly closeCode: number | null
  /** Whether the feed answered a ping at the end. */
  readonly isAlive: boolean
  /** Bytes received that are not part of an HTTP response, as text. */
  readonly text: string
  readonly ms: number
  readonly isTimedOut: boolean
}

/** The outcome of a case in which nothing was received. */
export const NO_OUTCOME: CaseOutcome = {
  answers: [],
  told: [],
  closeCode: null,
  isAlive: false,
  text: '',
  ms: 0,
  isTimedOut: false,
}

/**
 * Opens a connection from a loopback client address, or from any when it is null. Errors close it
 * silently.
 */
export function openConnection(
  target: Endpoint,
  address: string | null,
  allowHalfOpen = false,
): Socket {
  const local = address === null ? {} : { localAddress: address }
  const socket = connect({ host: target.host, port: target.port, allowHalfOpen, ...local })
  socket.setNoDelay(true)
  socket.on('error', () => {}) // 'close' follows
  return socket
}

/**
 * Carries out an HTTP case; resolves when its responses came, the server closed, or its time is up.
 */
export async function runHttpCase(
  { act, expect, limitMs }: Pick<AbuseCase, 'expect' | 'limitMs'> & { readonly act: Exchange },
  target: Endpoint,
  address: string | null,
  values: Placeholders,
): Promise<CaseOutcome> {
  const started = performance.now()
  const socket = openConnection(
    target,
    address,
    act.endsAfter !== true && act.waitsForClose === true,
  )
  const isHead = String(act.pieces[0]).startsWith('HEAD ')
  const chunks: Buffer[] = []
  let answers: readonly HttpAnswer[] = []
  let isTimedOut = false
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => {
      isTimedOut = true
      resolve()
    }, limitMs)
    const done = () => {
      clearTimeout(timer)
      resolve()
    }
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      if (act.waitsForClose === true) return
      answers = readAnswers(Buffer.concat(chunks), isHead, false)
      if (answers.length >= (expect.answers ?? 1)) done()
    })
    socket.on('close', done)
    // The server has closed its half; only a write shows whether it has closed the connection.
    socket.on('end', () => {
      const probe = setInterval(() => socket.write('\r\n'), 250)
      socket.on('close', () => clearInterval(probe))
    })
    void send(socket, act, values)
  })
  socket.destroy()
  answers = readAnswers(Buffer.concat(chunks), isHead, true)
  return { ...NO_OUTCOME, answers, ms: performance.now() - started, isTimedOut }
}

async function send(socket: Socket, act: Exchange, values: Placeholders): Promise<void> {
  for (const piece of act.pieces) {
    if (socket.destroyed) return
    if (typeof piece === 'number') await sleep(piece)
    else socket.write(fillPlaceholders(piece, values), 'latin1')
  }
  if (act.endsAfter === true) socket.end()
}
