import { createDecoder, type Decoder } from '../../decode/decoder.ts'
import { type Address, addressFromBytes } from '../../domain/address.ts'
import type { WalletRecord } from '../../domain/slot.ts'
import type { Transaction } from '../../domain/transaction.ts'
import { createWallets } from '../../domain/wallets.ts'
import type { MintDecimals } from '../../ingest/rpc/mint-decimals.ts'
import { pauseUnlessStopped, StoppedError } from '../../ingest/rpc/retry-until-stopped.ts'
import type { HistoryRpc, SignatureInfo } from '../../ingest/rpc/solana-rpc.ts'
import type { TransactionIndexes } from '../../ingest/rpc/transaction-index.ts'
import { walkHistory } from '../../ingest/rpc/wallet-history.ts'
import type { IngestMetrics } from '../../ingest/telemetry.ts'
import { normalizeRpc } from '../../ingest/wire/normalize-rpc.ts'
import type { EventLog } from '../../log/log.ts'
import type { Logger } from '../../runtime/logger.ts'
import { readSettledSolPrices } from '../../store/read-sol-prices.ts'
import type { Store } from '../../store/store.ts'
import { decodeRecords } from '../ingest/decode-records.ts'
import type { BackfillJob, BackfillJobs } from './backfill-jobs.ts'
import { fewAtOnce } from './few-at-once.ts'

/** What every backfill of a process works with. */
export interface BackfillDeps {
  /** Waits for a lost server. */
  readonly store: Store
  readonly log: EventLog
  readonly rpc: HistoryRpc
  readonly places: TransactionIndexes
  readonly decimals: MintDecimals
  readonly jobs: BackfillJobs
  readonly metrics: IngestMetrics
  readonly logger: Logger
  readonly priceMaxAgeSeconds: number
  /** Resolves when what the log has acknowledged would survive a crash. */
  readonly settled: (stop: AbortSignal) => Promise<void>
}

/** Transactions of one wallet that are asked for at once. */
const ASKED_AT_ONCE = 32
/** Records in one append. */
const RECORDS_PER_APPEND = 1000
/** A node behind another may not have what that one listed: it is asked again, this often and at these pauses. */
const MISSING_TRIES = 3
const MISSING_PAUSE_MS = 500

/** What a history was found to hold besides records. */
export interface Walked {
  readonly job: BackfillJob
  /** The oldest transaction listed in the range; null when there was none since this process began. */
  readonly oldest: SignatureInfo | null
}

/**
 * Carries a backfill from where it stands to its end: pages of signatures, newest first, then their transactions, decoded as live ones are; records of
 * the wallet go to the log as `backfill`. After each page the job is saved once the page's records would survive a crash. Rejects with `unavailable`
 * when RPC does not answer, with `StoppedError` after `stop`; either way it goes on from the last page when it is run again.
 */
export async function backfillWallet(
  begun: BackfillJob,
  address: Address,
  /** What is listed from this slot on and not given is no loss: it has been seen live. */
  coveredFrom: number | null,
  deps: BackfillDeps,
  stop: AbortSignal,
  onPage: (page: { readonly transactions: number }) => void,
): Promise<Walked> {
  const { rpc, jobs } = deps
  const decode = decoderOf(begun.wallet, address)
  const kept = new Set(await jobs.accounts(begun.wallet))
  const live = await rpc.getTokenAccountsByOwner(address)
  const history = walkHistory(
    {
      wallet: address,
      accounts: [...kept, ...live],
      range: begun.range,
      after: begun.position,
      minContextSlot: begun.newestSlot,
    },
    rpc,
  )
  let job = begun
  let oldest: SignatureInfo | null = null
  let storing = Promise.resolve()
  let saving = Promise.resolve()
  /** Appends a page, then notes the place behind it when the page is safe; of the last page the job's end is all that is noted. */
  const storePage = async (
    page: WalletRecord[],
    done: BackfillJob,
    transactions: number,
    isLast: boolean,
  ) => {
    await append(page, deps)
    onPage({ transactions })
    await saving
    saving = settle(isLast ? [] : [done], deps, stop)
    saving.catch(() => {}) // told by the next page, or at the end
  }
  try {
    for (;;) {
      refuseStopped(stop)
      const listed = await history.next()
      if (listed === null) break
      const page: WalletRecord[] = []
      let transactions = 0
      for (let infos = listed; infos.length > 0; ) {
        const fetched = await fewAtOnce(infos, ASKED_AT_ONCE, (info) =>
          fetchOne(info, decode, deps, stop),
        )
        transactions += infos.length
        // What RPC lists now is kept with the first page.
        const accounts = new Set(live)
        infos.forEach((info, at) => {
          const found = fetched[at]
          if (found === null || found === undefined) job = lost(job, info, coveredFrom)
          else {
            page.push(...found.records.filter(({ wallet }) => wallet === begun.wallet))
            for (const account of found.accounts) accounts.add(account)
          }
          if (oldest === null || info.slot <= oldest.slot) oldest = info
        })
        infos = await history.follow(await keepAccounts(jobs, begun.wallet, accounts, kept))
      }
      job = {
        ...job,
        position: history.position,
        transactions: job.transactions + transactions,
        records: job.records + page.length,
      }
      // The next page is asked for meanwhile; two are in memory.
      await storing
      storing = storePage(page, job, transactions, history.isAtEnd)
      storing.catch(() => {}) // told by the next page, or at the end
    }
  } finally {
    await storing.catch(() => {}) // no append goes on behind a caller that was told of a failure
  }
  await storing
  await saving
  return { job, oldest }
}

/** Puts the records of a page on the log, in the order of their keys: of one transaction they are in it already. */
async function append(page: WalletRecord[], deps: BackfillDeps): Promise<void> {
  const inOrder = page.sort((a, b) => a.slot - b.slot || a.txIndex - b.txIndex)
  const records = await priced(inOrder, deps)
  for (let at = 0; at < records.length; at += RECORDS_PER_APPEND)
    await deps.log.appendLate(records.slice(at, at + RECORDS_PER_APPEND), 'backfill')
  for (const { kind } of records) deps.metrics.records.inc({ kind })
}

/** Notes the place when what lies behind it is safe. */
async function settle(
  places: readonly BackfillJob[],
  { settled, jobs }: BackfillDeps,
  stop: AbortSignal,
) {
  await settled(stop)
  refuseStopped(stop)
  await jobs.save(places)
}

/** Keeps those that are not kept yet, and gives them. */
async function keepAccounts(
  jobs: BackfillJobs,
  wallet: number,
  accounts: Iterable<Address>,
  kept: Set<Address>,
): Promise<Address[]> {
  const added = [...accounts].filter((account) => !kept.has(account))
  await jobs.addAccounts(wallet, added)
  for (const account of added) kept.add(account)
  return added
}

function lost(job: BackfillJob, { slot, blockTime }: SignatureInfo, coveredFrom: number | null) {
  const counts = coveredFrom === null || slot < coveredFrom
  const missingAt =
    counts && slot > (job.missingAt?.slot ?? 0) ? { slot, time: blockTime } : job.missingAt
  return { ...job, missing: job.missing + 1, missingAt }
}

interface Fetched {
  readonly records: readonly WalletRecord[]
  /** Token accounts that the transaction shows to be the wallet's. */
  readonly accounts: readonly Address[]
}

interface OneWallet {
  readonly decoder: Decoder
  readonly address: Address
}

/** A decoder for one wallet alone, under its number: what a transaction was for others is theirs to fetch. */
function decoderOf(wallet: number, address: Address): OneWallet {
  const alone = createWallets([address])
  const wallets = {
    size: wallet,
    numberOf: (text: string) => (alone.numberOf(text) === undefined ? undefined : wallet),
    numberOfKey: (key: Uint8Array) => (alone.numberOfKey(key) === undefined ? undefined : wallet),
    addressOf: () => address,
  }
  return { decoder: createDecoder(wallets), address }
}

/** A transaction with its place in its block, decoded; null when the server does not have one or the other. */
async function fetchOne(
  info: SignatureInfo,
  { decoder, address }: OneWallet,
  deps: BackfillDeps,
  stop: AbortSignal,
): Promise<Fetched | null> {
  const { rpc, places, metrics } = deps
  for (let tries = 1; ; tries++) {
    refuseStopped(stop)
    const json = await rpc.getTransaction(info.signature)
    if (isRecord(json)) {
      const slot = typeof json.slot === 'number' ? json.slot : info.slot
      // Nodes of 2026 tell the place with the transaction; older ones do not.
      const told = typeof json.transactionIndex === 'number' ? json.transactionIndex : null
      const place =
        told === null ? await places.of(slot, info.signature) : { index: told, blockTime: null }
      const blockTime = blockTimeOf(json.blockTime, info.blockTime, place?.blockTime)
      if (place !== null && blockTime !== null) {
        const tx = normalizeRpc(json, { slot, index: place.index })
        if (tx.kind === 'malformed') {
          metrics.malformed.inc({ reason: tx.reason })
          return { records: [], accounts: [] }
        }
        const records = await decodeRecords(decoder, tx, blockTime, { ...deps, stop })
        return { records, accounts: ownAccounts(tx, address) }
      }
    }
    if (tries === MISSING_TRIES) return null
    await pauseUnlessStopped(MISSING_PAUSE_MS, stop)
  }
}

function blockTimeOf(...times: unknown[]): number | null {
  return times.find((time): time is number => typeof time === 'number') ?? null
}

function ownAccounts(tx: Transaction, owner: Address): Address[] {
  const indexes = new Set<number>()
  for (const balances of [tx.preTokenBalances, tx.postTokenBalances])
    for (const balance of balances) if (balance.owner === owner) indexes.add(balance.accountIndex)
  return [...indexes].flatMap((index) => {
    const key = tx.accountKeys[index]
    return key === undefined ? [] : [addressFromBytes(key)]
  })
}

/** The price at a swap's time goes with it, as far as it is known now (rules C1, J7); what has none is found again by `PriceFill`. */
async function priced(
  records: readonly WalletRecord[],
  { store, priceMaxAgeSeconds }: BackfillDeps,
): Promise<readonly WalletRecord[]> {
  const times = records.flatMap((record) =>
    record.kind === 'swap' && record.quoteMint !== null ? [record.blockTime] : [],
  )
  const { prices } = await readSettledSolPrices(store, times, priceMaxAgeSeconds)
  return records.map((record) => {
    if (record.kind !== 'swap' || record.quoteMint === null) return record
    return { ...record, solPriceUsdE9: prices.get(record.blockTime) ?? null }
  })
}

function refuseStopped(stop: AbortSignal): void {
  if (stop.aborted) throw new StoppedError()
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
