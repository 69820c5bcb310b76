import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import test from 'ava'
import { addressFromBytes } from '../../domain/address.ts'
import { USDC } from '../../domain/quote.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRegistry } from '../../runtime/telemetry.ts'
import { createIngestMetrics } from '../telemetry.ts'
import { createMintDecimals } from './mint-decimals.ts'
import { createRefusals, RpcRefusedError } from './refusals.ts'
import { retryUntilStopped, StoppedError } from './retry-until-stopped.ts'
import { createRpc } from './rpc.ts'

type Handler = (
  request: { method: string; params: unknown[] },
  response: ServerResponse,
  raw: IncomingMessage,
) => void

/** A server with this handler, a client of it, and the requests that it received. */
async function serve(handler: Handler, options: Partial<Parameters<typeof createRpc>[0]> = {}) {
  const requests: { method: string; params: unknown[] }[] = []
  const server = createServer((raw, response) => {
    const chunks: Buffer[] = []
    raw.on('data', (chunk: Buffer) => chunks.push(chunk))
    raw.on('end', () => {
      const request = JSON.parse(Buffer.concat(chunks).toString())
      requests.push({ method: request.method, params: request.params })
      handler(request, response, raw)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // listening on TCP
  const rpc = createRpc({
    url: `http://127.0.0.1:${port}/?api-key=secret`,
    metrics: createIngestMetrics(createRegistry()),
    backoffMs: 1,
    attempts: 3,
    ...options,
  })
  return {
    rpc,
    requests,
    close() {
      rpc.close()
      server.close()
      server.closeAllConnections()
    },
  }
}

const result = (response: ServerResponse, value: unknown) =>
  response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: value }))
const failure = (response: ServerResponse, code: number) =>
  response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message: 'no' } }))

test('a call is retried after 429, 5xx, a closed connection, no JSON and a node that is behind', async (t) => {
  const troubles: Handler[] = [
    (_, response) => response.writeHead(429, { 'retry-after': '0' }).end('slow down'),
    (_, response) => response.writeHead(503).end(),
    (_, response) => response.destroy(),
    (_, response) => response.end('<html>'),
    (_, response) => failure(response, -32005),
  ]
  let turn = 0
  const server = await serve(
    (request, response, raw) =>
      (troubles[turn++] ?? ((_, r) => result(r, 77)))(request, response, raw),
    { attempts: 6 },
  )
  t.is(await server.rpc.getSlot(), 77)
  t.is(server.requests.length, 6)
  t.deepEqual(server.requests[0], { method: 'getSlot', params: [{ commitment: 'confirmed' }] })
  server.close()
})

test('transactions and their places are read at the commitment of the client (rule K9)', async (t) => {
  for (const history of ['confirmed', 'finalized'] as const) {
    const server = await serve((_, response) => result(response, []), { history })
    await server.rpc.getSignaturesForAddress(USDC, { limit: 5 })
    await server.rpc.getTransaction('5')
    await server.rpc.getBlockSignatures(7).catch(() => {})
    t.deepEqual(
      server.requests.map(({ params }) => (params[1] as { commitment: string }).commitment),
      [history, history, history],
    )
    server.close()
  }
})

test('Retry-After delays the retry, as seconds and as a date', async (t) => {
  const inSeconds = () => '1'
  // Dates have whole seconds: between half a second and one and a half.
  const asDate = () => new Date(Date.now() + 1500).toUTCString()
  for (const retryAfter of [inSeconds, asDate]) {
    const times: number[] = []
    const server = await serve((_, response) => {
      times.push(performance.now())
      if (times.length === 1) response.writeHead(429, { 'retry-after': retryAfter() }).end()
      else result(response, 1)
    })
    await server.rpc.getSlot()
    const [first = 0, second = 0] = times
    t.true(second - first > 400, `${second - first} ms`)
    server.close()
  }
})

test('when all attempts fail, the error names the method and not the key of the URL', async (t) => {
  const server = await serve((_, response) => response.writeHead(500).end())
  const error = await t.throwsAsync(server.rpc.getSlot(), { code: 'unavailable' })
  t.is(error?.message, 'SOLANA_RPC_URL: getSlot failed: HTTP status 500')
  t.is(server.requests.length, 3)
  server.close()
})

test('a response that is late or too large fails', async (t) => {
  const silent = await serve(() => {}, { timeoutMs: 50, attempts: 1 })
  await t.throwsAsync(silent.rpc.getSlot(), { code: 'unavailable', message: /timeout/ })
  silent.close()
  const large = await serve((_, response) => response.end(Buffer.alloc(5000, 32)), {
    maxResponseBytes: 4000,
    attempts: 1,
  })
  await t.throwsAsync(large.rpc.getSlot(), { code: 'unavailable', message: /more than 4000 bytes/ })
  large.close()
})

test('a response may be compressed, is limited in size after decompression, and must be complete', async (t) => {
  const packed = (value: unknown): Handler => {
    const bytes = gzipSync(JSON.stringify({ jsonrpc: '2.0', id: 1, result: value }))
    return (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bytes)
  }
  const good = await serve(packed(77))
  t.is(await good.rpc.getSlot(), 77)
  good.close()
  const options = { maxResponseBytes: 4000, attempts: 1 }
  const large = await serve(packed('x'.repeat(5000)), options)
  await t.throwsAsync(large.rpc.getSlot(), { code: 'unavailable', message: /larger than 4000/ })
  large.close()
  const cut = await serve((_, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('{"jsonrpc"', () => response.destroy())
  }, options)
  await t.throwsAsync(cut.rpc.getSlot(), {
    code: 'unavailable',
    message: /getSlot failed: other side closed/,
  })
  cut.close()
})

test('at most `concurrency` requests run at once', async (t) => {
  let running = 0
  let most = 0
  const server = await serve(
    (_, response) => {
      most = Math.max(most, ++running)
      setTimeout(() => {
        running--
        result(response, 1)
      }, 5)
    },
    { concurrency: 3 },
  )
  await Promise.all(Array.from({ length: 20 }, () => server.rpc.getSlot()))
  t.is(most, 3)
  server.close()
})

test('getBlock returns a whole block, absent or not_yet', async (t) => {
  const transactions = [{ transaction: {}, meta: {} }]
  const blockhash = `1111111${'2'.repeat(34)}`
  const answers: ((response: ServerResponse) => void)[] = [
    (r) => result(r, { parentSlot: 8, blockTime: 1_700_000_000, blockhash, transactions }),
    (r) => failure(r, -32007),
    (r) => failure(r, -32009),
    (r) => failure(r, -32001),
    (r) => failure(r, -32004),
    (r) => result(r, null),
    (r) => result(r, { parentSlot: 8, blockTime: null, transactions }),
  ]
  const server = await serve((_, response) => answers.shift()?.(response))
  const whole = { slot: 9, parent: 8, blockTime: 1_700_000_000, blockId: 2n, transactions }
  for (const expected of [whole, 'absent', 'absent', 'absent', 'not_yet', 'not_yet', 'not_yet']) {
    t.deepEqual(await server.rpc.getBlock(9), expected as never)
  }
  t.like(server.requests[0], {
    method: 'getBlock',
    params: [9, { commitment: 'confirmed', transactionDetails: 'full', rewards: false }],
  })
  server.close()
})

test('a result of the wrong form and a permanent error are reported without a retry', async (t) => {
  const answers: ((response: ServerResponse) => void)[] = [
    (r) => result(r, 'many'),
    (r) => result(r, [1, -1]),
    (r) => result(r, { transactions: 5 }),
    (r) => failure(r, -32602),
  ]
  const server = await serve((_, response) => answers.shift()?.(response))
  await t.throwsAsync(server.rpc.getSlot(), {
    message: /getSlot answered in a form that is not Solana's/,
  })
  await t.throwsAsync(server.rpc.getBlocks(1, 2), { message: /getBlocks answered in a form/ })
  await t.throwsAsync(server.rpc.getBlock(1), { message: /getBlock answered in a form/ })
  await t.throwsAsync(server.rpc.getBlock(1), {
    message: 'SOLANA_RPC_URL: getBlock answered error -32602: no',
  })
  server.close()
})

test('closing the client ends running calls', async (t) => {
  const server = await serve(() => {})
  const call = t.throwsAsync(server.rpc.getSlot(), { message: /closed/ })
  server.rpc.close()
  await call
  server.close()
})

const mint = (byte: number) => addressFromBytes(new Uint8Array(32).fill(byte))
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'

test('decimals are read once per mint, a hundred mints at a time; other accounts have none', async (t) => {
  const account = (decimals: number, owner = TOKEN, size = 82) => {
    const data = Buffer.alloc(size)
    data[44] = decimals
    data[45] = 1
    return { owner, data: [data.toString('base64'), 'base64'] }
  }
  const server = await serve(({ params }, response) => {
    const addresses = params[0] as string[]
    const others: Record<string, unknown> = {
      [mint(201)]: null,
      [mint(202)]: account(9, '11111111111111111111111111111111'),
      [mint(203)]: account(9, TOKEN, 40),
    }
    result(response, {
      context: { slot: 1 },
      value: addresses.map((one) => (one in others ? others[one] : account(6))),
    })
  })
  const decimals = createMintDecimals(server.rpc)
  const mints = Array.from({ length: 150 }, (_, at) => mint(at + 1))
  await decimals.load([...mints, mint(201), mint(202), mint(203)])
  await decimals.load(mints)
  t.deepEqual(
    server.requests.map(({ params }) => (params[0] as string[]).length),
    [100, 53],
  )
  t.deepEqual(
    [1, 150, 201, 202, 203, 204].map((byte) => decimals.of(mint(byte))),
    [6, 6, undefined, undefined, undefined, undefined],
  )
  const few = createMintDecimals(server.rpc, 2)
  await few.load([mint(1), mint(2), mint(3)])
  t.deepEqual(
    [1, 2, 3].map((byte) => few.of(mint(byte))),
    [undefined, 6, 6],
  )
  server.close()
})

test('a call that the server refuses is given up, one that fails is retried until it succeeds or the service stops (rule K10)', async (t) => {
  let tries = 0
  const server = await serve((_, response) => {
    if (++tries < 4) response.writeHead(500).end()
    else result(response, 5)
  })
  const logger = createLogger('silent')
  const refusals = createRefusals(0, { logger, metrics: createIngestMetrics(createRegistry()) })
  const deps = { logger, stop: new AbortController().signal, refusals }
  t.is(await retryUntilStopped(() => server.rpc.getSlot(), deps), 5)
  const stopping = new AbortController()
  const call = t.throwsAsync(
    retryUntilStopped(() => new Promise(() => {}), { ...deps, stop: stopping.signal }),
    { instanceOf: StoppedError },
  )
  stopping.abort()
  await call
  server.close()
  const refusing: Handler[] = [
    (_, response) => failure(response, -32015),
    (_, response) => failure(response, -32602),
    (_, response) => response.writeHead(403).end('no'),
    (_, response) => response.writeHead(404).end('{}'),
  ]
  for (const handler of refusing) {
    const { rpc, close } = await serve(handler)
    await t.throwsAsync(
      retryUntilStopped(() => rpc.getSlot(), deps),
      { instanceOf: RpcRefusedError },
    )
    close()
  }
})
