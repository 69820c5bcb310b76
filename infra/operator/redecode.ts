import { z } from 'zod'
import { createDecoder } from '../../pipeline/decode/decoder.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { createWallets } from '../../pipeline/domain/wallets.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { readTrackedWallets } from '../../pipeline/store/tracked-wallets.ts'
import { type RedecodeSummary, redecode } from '../../pipeline/workers/backfill/redecode.ts'
import { optionCommand, trackedWalletsOption } from './command.ts'
import type { OperatorParts } from './parts.ts'
import type { Report } from './progress.ts'
import { refoldWallets } from './recompute.ts'

/**
 * `redecode [--wallet <W3|all>]`: decodes stored transactions again with the decoder of this version (rules J3, K4), brings the event tables to what it
 * gives, has the wallets whose events changed folded anew, and waits until that is stored. Writes nothing where nothing changes; run again, it goes on where it
 * was killed.
 */
export const redecodeCommand = optionCommand({
  name: 'redecode',
  usage: '[--wallet <W3|all>]',
  options: { wallet: z.string().default('all').pipe(trackedWalletsOption) },
  isRecorded: true,
  async run({ wallet }, parts, report) {
    const wallets = await wallet(parts.store)
    return { document: await redecodeWallets(parts, wallets, report) }
  },
})

/** What the command prints. */
interface Document {
  readonly transactions: number
  readonly passed_by: number
  readonly changed: number
  readonly events: RedecodeSummary['events']
  readonly undecoded: RedecodeSummary['undecoded']
  readonly wallets_folded: number
}

/** Redecodes for one wallet, or for all, with the decoder of this version. Rejects with `closed` when it is stopped; it may be run again. */
export async function redecodeWallets(
  parts: Pick<OperatorParts, 'store' | 'log' | 'solPriceMaxAgeSeconds' | 'stop'>,
  wallets: readonly number[],
  report: Report,
  { rowsPerPage }: { readonly rowsPerPage?: number } = {},
): Promise<Document> {
  const { store, solPriceMaxAgeSeconds: priceMaxAgeSeconds } = parts
  const tracked = createWallets(await readTrackedWallets(store))
  const [wallet] = wallets
  const isOne = wallets.length === 1 && tracked.size > 1 && wallet !== undefined
  const touched = new Set<number>()
  const { transactions, passedBy, changed, events, undecoded } = await redecode({
    store,
    decoder: createDecoder(tracked),
    only: isOne ? { wallet, address: tracked.addressOf(wallet) } : null,
    priceMaxAgeSeconds,
    ...(rowsPerPage && { rowsPerPage }),
    onWallets: async (some) => {
      await markWallets(store, some, { isFolded: false, at: Date.now() })
      for (const one of some) touched.add(one)
    },
    onProgress(done, total) {
      report({ what: 'transactions', done, total })
      if (parts.stop.aborted)
        throw new ServiceError('closed', 'stopped; run it again', { retriable: true })
    },
  })
  const toFold = [...new Set([...(await unfoldedWallets(store)), ...touched])]
  if (toFold.length > 0) {
    const at = Date.now()
    await refoldWallets(parts, toFold, report)
    await markWallets(store, toFold, { isFolded: true, at })
  }
  return {
    transactions,
    passed_by: passedBy,
    changed,
    events,
    undecoded,
    wallets_folded: toFold.length,
  }
}

/** Of two marks of one moment the one that asks for a fold wins. */
async function markWallets(
  store: Store,
  wallets: readonly number[],
  { isFolded, at }: { readonly isFolded: boolean; readonly at: number },
): Promise<void> {
  const version = at * 2 + Number(!isFolded)
  await store.insert(
    'redecoded_wallets',
    wallets.map((wallet) => ({ wallet, is_folded: isFolded, version })),
  )
}

/** Wallets whose events were changed and whose books may not follow from them yet: those of this run, and of one that was killed. */
async function unfoldedWallets(store: Store): Promise<number[]> {
  const rows = await store.query<{ wallet: number }>(
    'SELECT wallet FROM redecoded_wallets FINAL WHERE NOT is_folded ORDER BY wallet LIMIT 10000000',
  )
  return rows.map(({ wallet }) => wallet)
}
