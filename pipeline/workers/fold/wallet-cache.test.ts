import test from 'ava'
import fc from 'fast-check'
import { foldEvent } from '../../fold/fold-wallet.ts'
import { encodeSnapshot } from '../../fold/snapshot.ts'
import { createWalletState, takeChanges } from '../../fold/wallet-state.ts'
import { aHistory } from '../../testing/histories.ts'
import { WalletCache } from './wallet-cache.ts'

test('a cached state comes back unchanged, and the least recently used are evicted first', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), aHistory), { maxLength: 12 }),
      fc.nat(8),
      fc.nat(20),
      (steps, maxOpen, maxPacked) => {
        const cache = new WalletCache({ maxOpen, maxPacked })
        const kept = new Map<number, { text: string; saved: number }>()
        for (const [wallet, history] of steps) {
          const state = createWalletState(wallet)
          for (const event of history) foldEvent(state, event)
          takeChanges(state)
          kept.delete(wallet)
          kept.set(wallet, { text: encodeSnapshot(state), saved: history.length % 3 })
          cache.keep(state, history.length % 3)
          t.true(cache.has(wallet))
          cache.trim()
        }
        const held = [...kept].filter(([wallet]) => cache.has(wallet))
        t.deepEqual(
          held,
          [...kept].slice(kept.size - held.length),
          'the least recently used are evicted first',
        )
        t.is(cache.size, held.length)
        const moved = cache.moved().sort()
        for (const [wallet, { text, saved }] of held) {
          const entry = cache.get(wallet)
          t.is(entry && encodeSnapshot(entry.state), text)
          t.is(entry?.saved, saved)
          t.is(moved.includes(wallet), (entry?.state.events ?? 0) > saved)
        }
      },
    ),
  )
})
