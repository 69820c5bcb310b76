import { pricesOf } from '../../api/billing/terms.ts'
import { createTurns } from '../../api/turns.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { createIngestMetrics } from '../../pipeline/ingest/telemetry.ts'
import { createKafkaLog } from '../../pipeline/log/kafka.ts'
import type { EventLog } from '../../pipeline/log/log.ts'
import { createMemoryLog } from '../../pipeline/log/memory.ts'
import { createLogger, type Logger } from '../../pipeline/runtime/logger.ts'
import { readSecretFiles } from '../../pipeline/runtime/secret-files.ts'
import { createRegistry } from '../../pipeline/runtime/telemetry.ts'
import { createStore } from '../../pipeline/store/create-store.ts'
import { migrate } from '../../pipeline/store/migrate.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { type Backfills, createBackfills } from '../../pipeline/workers/backfill/backfills.ts'
import { startFold } from '../../pipeline/workers/fold/fold.ts'
import { type DataConfig, keepsData, loadDataConfig } from '../service/config.ts'
import { createMoney, openLimits, openMeter } from '../service/money.ts'
import { currentCaller } from './caller.ts'
import type { Outcome } from './command.ts'
import {
  failureOf,
  helpOf,
  nameOf,
  noCommand,
  portableArgs,
  runCommand,
  usageOf,
} from './commands.ts'
import { reportTo } from './progress.ts'
import { answer, askOperator, type Reply } from './socket.ts'

/** What JSON leaves as it is and a terminal obeys: C1 controls, and marks of direction. */
const UNPRINTABLE = /[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const args = portableArgs(process.argv.slice(2))
const report = reportTo(process.stderr)
const help = helpOf(process.argv.slice(2))
if (help !== null) process.stdout.write(`${help}\n`)
else {
  const reply = await run()
  print(reply)
  process.exitCode = reply.kind === 'done' && !reply.outcome.failed ? 0 : 1
}

/** The one JSON document on stdout. */
function print(reply: Reply): void {
  const document = reply.kind === 'done' ? reply.outcome.document : failureOf(reply, args)
  process.stdout.write(`${JSON.stringify(document).replace(UNPRINTABLE, escaped)}\n`)
}

/** Through the process that owns the data when one runs, else on the data itself (rule J3). */
async function run(): Promise<Reply> {
  let asked: Reply | null = null
  const done = await answer(async () => {
    if (nameOf(args) === null) {
      process.stderr.write(`${usageOf(args)}\n`)
      throw noCommand(args)
    }
    const config = loadDataConfig(readSecretFiles(process.env))
    if (keepsData(config)) asked = await askOperator(config.dataDir, args, report)
    return asked === null ? runHere(config) : { document: null }
  })
  return asked ?? done
}

async function runHere(config: DataConfig): Promise<Outcome> {
  const logger = createLogger(config.logLevel)
  const store = await createStore(config.store)
  try {
    await migrate(store)
    const meter = await openMeter(config.meter, logger)
    const redis = await openLimits(config.meter, logger)
    try {
      const { ledger, accounts } = createMoney(store, meter, logger, redis)
      const log = openLater(config, store, logger)
      const backfills = backfillsLater(config, store, log.open, logger)
      const stop = stopOnSignal()
      // A request that the RPC server does not answer ends too.
      stop.addEventListener('abort', () => backfills.close())
      try {
        const { solPriceMaxAgeSeconds, readerUrl, confirmAboveCredits } = config
        const own = { store, readerUrl, log: log.open, backfills: backfills.open, stop }
        const audited = { caller: currentCaller(), confirmAboveCredits }
        const billing = { prices: pricesOf(config.billing), turns: createTurns(redis) }
        const computed = { solPriceMaxAgeSeconds, salt: config.privacySalt }
        const parts = { ...own, ...audited, ...billing, ...computed, ledger, accounts }
        return await runCommand(args, parts, report)
      } finally {
        backfills.close()
        await log.close()
      }
    } finally {
      redis?.disconnect()
      await meter.close()
    }
  } finally {
    await store.close()
  }
}

/** The log, opened when it is first asked for. In memory nobody else reads it, as no process owns the data: a fold worker of our own does. */
function openLater(config: DataConfig, store: Store, logger: Logger) {
  let opened: Promise<{ log: EventLog; close(): Promise<void> }> | undefined
  async function open() {
    const registry = createRegistry()
    if (config.log.kind === 'kafka') {
      const log = await createKafkaLog(config.log, { logger, registry })
      return { log, close: () => log.close() }
    }
    const log = createMemoryLog({ logger, registry })
    const fold = await startFold({
      store,
      log,
      logger,
      registry,
      onBug: fail,
      salt: config.privacySalt,
    })
    return {
      log,
      async close() {
        await fold.stop()
        await log.close()
      },
    }
  }
  return {
    async open() {
      opened ??= open()
      return (await opened).log
    },
    async close() {
      if (opened) await (await opened).close()
    },
  }
}

/** Backfills of this process alone, made when they are first asked for. */
function backfillsLater(
  config: DataConfig,
  store: Store,
  openLog: () => Promise<EventLog>,
  logger: Logger,
) {
  let opened: Backfills | undefined
  return {
    async open() {
      const { rpcUrl, solPriceMaxAgeSeconds: priceMaxAgeSeconds } = config
      if (rpcUrl === null)
        throw new ServiceError(
          'bad_config',
          'SOLANA_RPC_URL: required, as no service runs here that has one of its own',
        )
      opened ??= createBackfills({
        store,
        log: await openLog(),
        logIsDurable: config.log.kind === 'kafka',
        rpcUrl: rpcUrl.href,
        priceMaxAgeSeconds,
        logger,
        metrics: createIngestMetrics(createRegistry()),
      })
      return opened
    },
    close: () => opened?.close(),
  }
}

/** Aborted by Ctrl-C and SIGTERM: what is under way ends where it can go on. */
function stopOnSignal(): AbortSignal {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
  return stopping.signal
}

async function fail(error: unknown): Promise<never> {
  print(await answer(() => Promise.reject(error)))
  process.exit(1)
}
