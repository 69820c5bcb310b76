import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { missingSignatures, readSignatures } from './signatures.ts'

/**
 * `npm run record -- --rpc URL --out FILE.jsonl.gz [--signatures FILE]`: fetches transactions over
 * JSON-RPC (`getTransaction`, encoding `json`) and appends them to a compressed file, one JSON line
 * each. Skips transactions that the file has, so that an interrupted run can be repeated. Progress
 * goes to stderr. Exits with 1 when some could not be fetched.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      rpc: { type: 'string' },
      out: { type: 'string' },
      signatures: { type: 'string', default: SIGNATURES },
    },
  })
  const { rpc, out } = values
  if (rpc === undefined || out === undefined) {
    log('usage: npm run record -- --rpc URL --out FILE.jsonl.gz [--signatures FILE]')
    return 2
  }
  const wanted = readSignatures(readFileSync(values.signatures, 'utf8'))
  const todo = missingSignatures(wanted, existsSync(out) ? readFileSync(out) : null)
  let failed = 0
  for (const [i, signature] of todo.entries()) {
    try {
      const transaction = await getTransaction(rpc, signature)
      // A gzip file may have several members, so that appending needs no rewriting.
      appendFileSync(out, gzipSync(`${JSON.stringify(transaction)}\n`))
    } catch (error) {
      failed++
      log(`${signature}: ${error instanceof Error ? error.message : error}`)
    }
    if ((i + 1) % 10 === 0) log(`${i + 1} of ${todo.length}`)
  }
  log(
    `${todo.length - failed} recorded, ${wanted.length - todo.length} were there, ${failed} failed`,
  )
  return failed === 0 ? 0 : 1
}

/** The signatures of the corpus that the tests and `npm run corpus` were developed with. */
const SIGNATURES = new URL('../../../infra/record/signatures.txt', import.meta.url).pathname
const ATTEMPTS = 5

/**
 * One transaction as RPC returns it. Retries after 429 and failed connections, each time a second
 * later.
 */
async function getTransaction(rpc: string, signature: string): Promise<unknown> {
  const options = { encoding: 'json', maxSupportedTransactionVersion: 1, commitment: 'confirmed' }
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'getTransaction',
    params: [signature, options],
  })
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(rpc, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    }).catch(() => null)
    if (response?.ok) {
      const answer = (await response.json()) as { result?: unknown; error?: { message?: string } }
      if (answer.result != null) return answer.result
      throw new Error(answer.error?.message ?? 'the node does not have it')
    }
    if (attempt === ATTEMPTS)
      throw new Error(response === null ? 'unreachable' : `HTTP ${response.status}`)
    await new Promise((resolve) => setTimeout(resolve, attempt * 1000))
  }
}

function log(line: string): void {
  process.stderr.write(`${line}\n`)
}

process.exitCode = await main()
