import { z } from 'zod'
import { createDecoder } from '../../pipeline/decode/decoder.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { createWallets } from '../../pipeline/domain/wallets.ts'
import {
  findUnfoldedWallets,
  markRedecoded,
} from '../../pipeline/store/tables/redecoded-wallets.ts'
import { readTrackedWallets } from '../../pipeline/store/tables/tracked-wallets.ts'
import { redecode } from '../../pipeline/workers/backfill/redecode.ts'
import { optionCommand, trackedWalletsOption } from './command.ts'
import type { OperatorParts } from './parts.ts'
import type { Report } from './progress.ts'
import { refoldWallets } from './recompute.ts'

/**
 * `redecode [--wallet <W3|all>]`: decodes stored transactions again with the current decoder (rules
 * J3, K4), and corrects the event tables where they differ. Then it has the wallets with changed
 * events folded again, and waits until that is stored. It writes only what changes. Repeated after
 * a kill, it continues.
 */
export const redecodeCommand = optionCommand({
  name: 'redecode',
  summary: 'Decodes stored transactions again with the current decoder.',
  usage: '[--wallet <W3|all>]',
  options: { wallet: z.string().default('all').pipe(trackedWalletsOption) },
  isRecorded: true,
  async run({ wallet }, parts, report) {
    const wallets = await wallet(parts.store)
    return { document: await redecodeWallets(parts, wallets, report) }
  },
})

/**
 * Redecodes the transactions of one wallet or of all wallets, and returns the document that the
 * command prints. Rejects with `closed` when it is
 * stopped; it may be repeated.
 */
export async function redecodeWallets(
  parts: Pick<OperatorParts, 'store' | 'log' | 'names' | 'solPriceMaxAgeSeconds' | 'stop'>,
  wallets: readonly number[],
  report: Report,
  { rowsPerPage }: { readonly rowsPerPage?: number } = {},
) {
  const { store, solPriceMaxAgeSeconds: priceMaxAgeSeconds } = parts
  const tracked = createWallets(await readTrackedWallets(store))
  const [wallet] = wallets
  const isOne = wallets.length === 1 && tracked.size > 1 && wallet !== undefined
  const touched = new Set<number>()
  const { transactions, passedBy, changed, events, undecoded } = await redecode({
    store,
    decoder: createDecoder(tracked, parts.names.programs),
    only: isOne ? { wallet, address: tracked.addressOf(wallet) } : null,
    priceMaxAgeSeconds,
    ...(rowsPerPage && { rowsPerPage }),
    onWallets: async (some) => {
      await markRedecoded(store, some, { isFolded: false, at: Date.now() })
      for (const one of some) touched.add(one)
    },
    onProgress(done, total) {
      report({ what: 'transactions', done, total })
      if (parts.stop.aborted)
        throw new ServiceError('closed', 'stopped; run the command again', { retriable: true })
    },
  })
  const toFold = [...new Set([...(await findUnfoldedWallets(store)), ...touched])]
  if (toFold.length > 0) {
    const at = Date.now()
    await refoldWallets(parts, toFold, report)
    await markRedecoded(store, toFold, { isFolded: true, at })
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
