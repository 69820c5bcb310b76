import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AbuseCase,
  type FeedConversation,
  type Frame,
  fillPlaceholders,
  type Placeholders,
  request,
} from './case.ts'
import { encodeFrame, readFrames } from './frames.ts'
import { readAnswers } from './read-answers.ts'
import { type CaseOutcome, type Endpoint, NO_OUTCOME, openConnection } from './wire.ts'

/** A client of the feed that sends given frames. */
export class FeedSocket {
  readonly socket: Socket
  /** Message types and error codes, in order; of trades only their number. */
  readonly told: string[] = []
  trades = 0
  pongs = 0
  closeCode: number | null = null
  isClosed = false
  /** Concatenated text of all messages except trades. */
  text = ''
  /** The response to the handshake. */
  answers: CaseOutcome['answers'] = []
  #bytes: Buffer = Buffer.alloc(0)
  #isOpen = false
  readonly #waiting = new Set<() => void>()

  constructor(target: Endpoint, address: string | null, key: string) {
    this.socket = openConnection(target, address)
    this.socket.write(
      request('GET /ws', {
        credential: `Bearer ${key}`,
        keepsAlive: true,
        fields: [
          ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
          'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
        ],
      }),
    )
    this.socket.on('data', (chunk: Buffer) => this.#read(chunk))
    this.socket.on('close', () => {
      this.isClosed = true
      this.#changed()
    })
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  send(frame: Frame): void {
    if (!this.socket.destroyed) this.socket.write(encodeFrame(frame))
  }

  say(text: string): void {
    this.send({ opcode: 1, payload: text })
  }

  /**
   * Resolves with true when the condition holds, with false when the socket closed or the time is
   * up.
   */
  async until(condition: () => boolean, limitMs: number): Promise<boolean> {
    const deadline = performance.now() + limitMs
    while (!condition()) {
      const leftMs = deadline - performance.now()
      if (this.isClosed || leftMs <= 0) return false
      await new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timer)
          this.#waiting.delete(done)
          resolve()
        }
        const timer = setTimeout(done, leftMs)
        this.#waiting.add(done)
      })
    }
    return true
  }

  #changed(): void {
    for (const done of [...this.#waiting]) done()
  }

  #read(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk])
    if (!this.#isOpen) {
      const [answer] = readAnswers(this.#bytes, false, false)
      if (answer === undefined) return
      this.answers = [answer]
      this.#isOpen = answer.status === 101
      this.#bytes = this.#bytes.subarray(this.#bytes.indexOf('\r\n\r\n') + 4)
    }
    const { frames, rest } = readFrames(this.#bytes)
    this.#bytes = rest
    for (const { opcode, payload } of frames) {
      if (opcode === 1) this.#hear(payload.toString())
      if (opcode === 8) {
        this.closeCode = payload.length < 2 ? 1005 : payload.readUInt16BE()
        this.send({ opcode: 8, payload: payload.toString('latin1') })
      }
      if (opcode === 9) this.send({ opcode: 10, payload: payload.toString('latin1') })
    }
    this.#changed()
  }

  #hear(text: string): void {
    // the service's own
    const message = JSON.parse(text) as { channel?: string; type?: string; code?: string }
    if (message.channel !== undefined) {
      this.trades++
      return
    }
    if (message.type === 'pong') this.pongs++
    this.text += text
    this.told.push(message.code ?? message.type ?? '')
  }
}

/** Carries out a case of the feed on its own connection. */
export async function runFeedCase(
  {
    act,
    expect,
    limitMs,
  }: Pick<AbuseCase, 'expect' | 'limitMs'> & { readonly act: FeedConversation },
  target: Endpoint,
  address: string | null,
  values: Placeholders,
): Promise<CaseOutcome> {
  const started = performance.now()
  const left = () => limitMs - (performance.now() - started)
  const client = new FeedSocket(target, address, values.key)
  await client.until(() => client.answers.length > 0, limitMs)
  let isAlive = false
  if (client.isOpen) {
    await takeSteps(client, act, values)
    if (expect.isCut === true) await sleep(50)
    else if (expect.closes !== undefined) await client.until(() => client.isClosed, left())
    else {
      client.say('{"action":"ping"}')
      isAlive = await client.until(() => client.told.at(-1) === 'pong', left())
    }
  }
  const isTimedOut = left() <= 0
  client.socket.destroy()
  const { answers, told, closeCode, text } = client
  return {
    ...NO_OUTCOME,
    answers,
    told,
    closeCode,
    isAlive,
    text,
    isTimedOut,
    ms: performance.now() - started,
  }
}

async function takeSteps(
  client: FeedSocket,
  act: FeedConversation,
  values: Placeholders,
): Promise<void> {
  for (const step of act.steps) {
    if (client.isClosed) return
    if ('pauseMs' in step) await sleep(step.pauseMs)
    else if ('bytes' in step) client.socket.write(step.bytes, 'latin1')
    else if ('cut' in step && step.cut === 'end') client.socket.end()
    else if ('cut' in step) client.socket.resetAndDestroy()
    else {
      const frame = { ...step.frame, payload: fillPlaceholders(step.frame.payload, values) }
      for (let time = 0; time < (step.times ?? 1); time++) client.send(frame)
    }
  }
}
