import { setImmediate as nextTurn } from 'node:timers/promises'
import { createDecoder } from '../../decode/decoder.ts'
import type { Address } from '../../domain/address.ts'
import type { SlotMarker, SolPrice, WalletRecord } from '../../domain/slot.ts'
import type { Wallets } from '../../domain/wallets.ts'
import { followChain } from '../../ingest/follow-chain.ts'
import type { FollowLimits } from '../../ingest/follow-limits.ts'
import type { IngestOutput } from '../../ingest/output.ts'
import { createMintDecimals } from '../../ingest/rpc/mint-decimals.ts'
import { StoppedError } from '../../ingest/rpc/retry-until-stopped.ts'
import { createRpc } from '../../ingest/rpc/rpc.ts'
import { createSolPrices } from '../../ingest/sol-price.ts'
import { createIngestMetrics, type IngestMetrics } from '../../ingest/telemetry.ts'
import type { EventLog } from '../../log/log.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { OnStage } from '../../runtime/slot-stage.ts'
import type { Registry } from '../../runtime/telemetry.ts'
import type { DepositIndex } from '../deposits/deposits.ts'
import { decodeRecords } from './decode-records.ts'

export interface IngestConfig {
  /** `YELLOWSTONE_ENDPOINT`, `YELLOWSTONE_X_TOKEN`. */
  readonly endpoint: string
  readonly xToken: string | null
  /** `SOLANA_RPC_URL`. */
  readonly rpcUrl: string
  /** `SOL_PRICE_POOL`, `SOL_PRICE_MAX_AGE_SECONDS`. */
  readonly pricePool: Address
  readonly priceMaxAgeSeconds: number
}

export interface IngestDeps {
  readonly config: IngestConfig
  readonly wallets: Wallets
  readonly log: EventLog
  /** The newest slot that needs not be ingested again: of the log, or of the store when the log forgets (rule K3). */
  readonly checkpoint: () => Promise<SlotMarker | null>
  /** History of SOL/USD (`SOL_PRICES_FILE`). */
  readonly prices?: readonly SolPrice[]
  /**
   * The pool's prices of the last hour or so that are stored. What died may have stored prices of slots beyond the checkpoint; when those slots then
   * come over RPC, which has no pool account, they are the newest there are.
   */
  readonly poolPrices?: () => Promise<readonly SolPrice[]>
  /** Called when slots were passed over; the wallets are to be backfilled (rule K2). */
  readonly onGap?: (gap: { readonly fromSlot: number; readonly toSlot: number }) => Promise<void>
  /** Told of every transaction that comes, those of payments among them (rule E5). */
  readonly deposits?: Pick<DepositIndex, 'note' | 'accounts'> | null
  readonly logger: Logger
  readonly registry: Registry
  /** Where what is fetched is counted together; made of `registry` unless given. */
  readonly metrics?: IngestMetrics
  readonly limits?: Partial<FollowLimits>
  /** Told of the stages from `received` to `appended`. */
  readonly onStage?: OnStage | undefined
}

export interface Ingest {
  /** The newest slot that the log has acknowledged since the start; null before the first. */
  status(): { readonly slot: number; readonly blockTime: number } | null
  /** Resolves with the first of them (rule J4). */
  readonly ready: Promise<void>
  /** Resolves after `stop`; rejects on a bug or when the log is broken for good: the process is to end. */
  readonly done: Promise<void>
  /** Follows these wallets from now on; their numbers stay. */
  updateWallets(wallets: Wallets): void
  /** Takes nothing more, hands what is sealed to the log and resolves when that has it. */
  stop(): Promise<void>
}

/**
 * Follows the chain from the checkpoint on and appends each sealed slot to the log: stream -> sealed slots -> decoded records -> log, in the order
 * of the chain, a few slots at a time unacknowledged. Rejects with `unreachable` or `bad_config`, naming the variable, when a server cannot be had.
 */
export async function startIngest(deps: IngestDeps): Promise<Ingest> {
  const { config, log, logger, limits, onStage } = deps
  const metrics = deps.metrics ?? createIngestMetrics(deps.registry)
  const stopping = new AbortController()
  const rpc = createRpc({ url: config.rpcUrl, metrics })
  const decimals = createMintDecimals(rpc)
  const [checkpoint, stored] = await Promise.all([
    deps.checkpoint(),
    deps.poolPrices?.() ?? [],
    rpc.ping(),
  ])
  const prices = createSolPrices(deps.prices)
  for (const price of stored) prices.add(price)
  if (checkpoint?.solPrice) prices.add(checkpoint.solPrice)
  let decoder = createDecoder(deps.wallets)
  const decoding = { decimals, logger, stop: stopping.signal }
  const chain = followChain(
    {
      ...config,
      wallets: deps.wallets,
      head: checkpoint?.slot ?? null,
      payments: deps.deposits ? deps.deposits.accounts.bind(deps.deposits) : undefined,
    },
    { rpc, prices, logger, metrics, onStage },
    limits,
  )

  let newest: { slot: number; blockTime: number } | null = null
  let resolveReady: () => void = () => {}
  const ready = new Promise<void>((resolve) => {
    resolveReady = resolve
  })

  async function run(): Promise<void> {
    const window = createWindow(UNACKNOWLEDGED)
    let lastTurn = performance.now()
    for (;;) {
      const output = await chain.next()
      if (output === null) break
      await window.room()
      window.add(await append(output))
      // A backlog is worked off without starving whatever else this process does.
      if (performance.now() - lastTurn > LONGEST_TURN_MS) {
        await nextTurn()
        lastTurn = performance.now()
      }
    }
    await window.empty()
  }

  /** Decodes, then hands over; `acknowledged` settles with the log's answer. */
  async function append(output: IngestOutput): Promise<{ readonly acknowledged: Promise<void> }> {
    const sealedAt = performance.now()
    if (output.kind === 'gap') {
      // Remembered before anything later can be: a crash in between meets the same gap again.
      await deps.onGap?.(output)
      return { acknowledged: Promise.resolve() }
    }
    const { slot, blockTime } = output
    const transactions = output.kind === 'slot' ? output.transactions : [output.transaction]
    const records: WalletRecord[] = []
    for (const transaction of transactions) {
      deps.deposits?.note(transaction, blockTime)
      const decoded = decodeRecords(decoder, transaction, blockTime, decoding)
      const found = decoded instanceof Promise ? await decoded : decoded
      for (const record of found) records.push(priced(record, blockTime))
    }
    for (const record of records) count(metrics, record)
    if (output.kind === 'late') {
      return { acknowledged: log.appendLate(records, output.origin) }
    }
    const { parent, solPrice } = output
    const marker = { slot, parent, blockTime, solPrice }
    onStage?.('decoded', slot)
    const acknowledged = log.appendSlot({ marker, records }).then(() => {
      onStage?.('appended', slot)
      newest = { slot, blockTime }
      metrics.slot.set(slot)
      metrics.appendSeconds.observe((performance.now() - sealedAt) / 1000)
      resolveReady()
    })
    return { acknowledged }
  }

  /** The price at a swap's time goes with it, whatever the quote coin (rules C1, C15). */
  function priced(record: WalletRecord, blockTime: number): WalletRecord {
    if (record.kind !== 'swap' || record.quoteMint === null) return record
    const price = prices.at(blockTime, config.priceMaxAgeSeconds)
    return price === null ? record : { ...record, solPriceUsdE9: price.usdE9 }
  }

  const done = Promise.all([run(), chain.done])
    .then(() => {})
    .catch((error: unknown) => {
      if (!(error instanceof StoppedError)) throw error
    })
    .finally(() => rpc.close())
  done.catch(() => {}) // a start that fails tells it itself

  async function stop(): Promise<void> {
    await chain.close()
    // What is sealed is still decoded and appended; only a look-up that does not end is given up.
    const giveUp = setTimeout(() => stopping.abort(), STOP_MS)
    await done.finally(() => clearTimeout(giveUp))
  }

  try {
    await chain.opened
  } catch (error) {
    await stop()
    throw error
  }
  return {
    status: () => newest,
    ready,
    done,
    updateWallets(wallets) {
      decoder = createDecoder(wallets)
      chain.updateWallets(wallets)
    },
    stop,
  }
}

function count({ records, unknown }: IngestMetrics, record: WalletRecord): void {
  records.inc({ kind: record.kind })
  if (record.kind === 'undecoded') unknown.inc({ kind: 'undecoded' })
  if (record.kind === 'swap' && record.confidence === 'delta_only') {
    unknown.inc({ kind: 'delta_only' })
  }
}

/** Slots handed to the log and not acknowledged yet. */
const UNACKNOWLEDGED = 16
const LONGEST_TURN_MS = 8
/** How long a stop waits for decimals from RPC. */
const STOP_MS = 3000

interface Window {
  /** Resolves when another may be added; rejects when one was rejected. */
  room(): Promise<void>
  add(task: { readonly acknowledged: Promise<void> }): void
  empty(): Promise<void>
}

/** At most `size` appends under way. */
function createWindow(size: number): Window {
  const open: Promise<void>[] = []
  return {
    async room() {
      while (open.length >= size) await open.shift()
    },
    add({ acknowledged }) {
      acknowledged.catch(() => {}) // told when its turn comes
      open.push(acknowledged)
    },
    async empty() {
      while (open.length > 0) await open.shift()
    },
  }
}
