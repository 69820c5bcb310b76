import test from 'ava'
import { encodeSnapshot, storedFormats } from '../../../pipeline/fold/snapshot.ts'
import { createWalletState } from '../../../pipeline/fold/wallet-state.ts'
import { readBooks } from '../../../pipeline/workers/fold/book-store.ts'
import { foldEventsBeyond } from '../../../pipeline/workers/fold/fold-stored-events.ts'
import { withStore } from '../kit/folder.ts'
import { strangerOf } from '../kit/stranger.ts'
import { countOpen, fill, isFilled } from './fill.ts'

const WALLETS = Array.from({ length: 8 }, (_, at) => at + 1)

test('the state of each wallet, also of a copied one, is what its stored events give', (t) =>
  withStore(async (store) => {
    const addresses = WALLETS.map(strangerOf)
    t.false(await isFilled(store))
    await fill(store, { swaps: 160, positions: 32, addresses, endSlot: 405_000_000, most: 3 })
    t.true(await isFilled(store))
    const books = await readBooks(store, WALLETS, storedFormats(null).readable)
    const stored = WALLETS.map((wallet) => {
      const snapshot = books.get(wallet)?.snapshot
      return snapshot ? encodeSnapshot(snapshot) : null
    })
    const states = new Map(
      WALLETS.map((wallet) => {
        return [wallet, createWalletState(wallet, books.get(wallet)?.snapshot?.revision)] as const
      }),
    )
    await foldEventsBeyond(store, states, null)
    t.deepEqual(stored, [...states.values()].map(encodeSnapshot))
    const [counts] = await store.query<Record<string, number>>(
      `SELECT toUInt32(count()) AS positions, toUInt32(uniqExact(wallet)) AS wallets,
         toUInt32(uniqExact(mint)) AS mints, toUInt32((SELECT count() FROM mints)) AS facts,
         toUInt32((SELECT uniqExact(signature) = count() FROM swaps)) AS signatures_differ,
         toUInt32((SELECT count() FROM tracked_wallets)) AS tracked,
         toUInt32((SELECT count() FROM progress WHERE worker = 'fold')) AS progress
       FROM positions`,
    )
    t.deepEqual(counts, {
      positions: counts?.positions,
      wallets: 8,
      mints: counts?.mints,
      facts: counts?.mints,
      signatures_differ: 1,
      tracked: 8,
      progress: 0,
    })
    t.true((counts?.positions ?? 0) > 20)
    const open = await countOpen(store)
    t.true(open > 0 && open < (counts?.positions ?? 0))
  }))
