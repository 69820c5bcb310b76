import test from 'ava'
import { createDecoder } from '../../pipeline/decode/decoder.ts'
import type { WalletRecord } from '../../pipeline/domain/slot.ts'
import { createWallets } from '../../pipeline/domain/wallets.ts'
import { normalizeGrpc } from '../../pipeline/ingest/wire/normalize-grpc.ts'
import { createChainSource } from './chain-source.ts'
import { memo } from './memo.ts'

const START = 405_000_000
const SLOTS = 60
const WALLETS = 10
const COPIES = 3

const { chain, market, wallets } = createChainSource({
  clock: { kind: 'manual', startSlot: START },
  wallets: WALLETS,
  coins: 40,
  trackedPerSlot: 3,
  othersPerSlot: 1,
  copies: { count: COPIES, at: (slot) => (slot < START + SLOTS ? COPIES : 2) },
})
const slots = Array.from({ length: SLOTS }, (_, at) => START + at)

const decoder = createDecoder(createWallets(wallets))
const decimals = new Map(market.universe.coins.map(({ mint }) => [mint.key.address, mint.decimals]))

/** What the decoder finds in a block. */
const decode = memo((slot: number): WalletRecord[] => decodeBlock(slot))

function decodeBlock(slot: number): WalletRecord[] {
  return chain.block(slot).transactions.flatMap((info) => {
    const transaction = normalizeGrpc({ slot: String(slot), transaction: info })
    if (!('instructions' in transaction)) return []
    const result = decoder.decode(transaction, 0, (mint) => decimals.get(mint))
    return result.kind === 'decoded' ? result.records : []
  })
}

/**
 * The records of a copy with the wallets' own numbers, and without what is the copy's alone. The
 * decoder orders links by account.
 */
function recordsOf(copy: number, slot: number) {
  const records = decode(slot).flatMap((record) => {
    const { wallet } = record
    if (Math.floor((wallet - 1) / WALLETS) !== copy) return []
    const own = { slot: 0, txIndex: 0, signature: '', account: '' }
    return { ...record, wallet: wallet - copy * WALLETS, ...own }
  })
  const mintOf = (record: object) => ('mint' in record ? String(record.mint) : '')
  const links = records.filter(({ kind }) => kind === 'token_link')
  return [
    ...records.filter(({ kind }) => kind !== 'token_link'),
    ...links.sort((a, b) => (mintOf(a) < mintOf(b) ? -1 : 1)),
  ]
}

test('each copy of the wallets does what they did, a slot later each', (t) => {
  for (let copy = 1; copy < COPIES; copy += 1)
    for (const slot of slots)
      t.deepEqual(recordsOf(copy, slot), recordsOf(0, slot - copy), `copy ${copy} at ${slot}`)
  t.true(slots.flatMap((slot) => recordsOf(2, slot)).some(({ kind }) => kind === 'swap'))
})

test('no two copies have a signature or a token account together', (t) => {
  const blocks = slots.map((slot) => chain.block(slot))
  const signatures = blocks.flatMap(({ transactions }) =>
    transactions.map(({ signature }) => Buffer.from(signature).toString('hex')),
  )
  t.is(new Set(signatures).size, signatures.length)
  const owners = new Map<string, number>()
  for (const record of slots.flatMap(decode))
    if (record.kind === 'token_link') {
      t.is(owners.get(record.account) ?? record.wallet, record.wallet)
      owners.set(record.account, record.wallet)
    }
  t.true(owners.size > WALLETS)
})

test('only so many copies trade in a slot as are asked for', (t) => {
  const later = Array.from({ length: SLOTS }, (_, at) => START + SLOTS + at)
  const trading = new Set(later.flatMap(decode).map(({ wallet }) => wallet))
  t.true(Math.max(...trading) <= 2 * WALLETS)
})

test('RPC finds what the accounts of a copy hold after each of its transactions', (t) => {
  const held = new Map<string, bigint>()
  const owner = wallets[2 * WALLETS] ?? ''
  for (const record of slots.flatMap(decode))
    if (record.kind === 'token_link' && record.wallet === 2 * WALLETS + 1)
      held.set(record.account, record.after)
  const last = slots.at(-1) ?? START
  const found = chain.tokenAccounts(owner, last).map(({ address, amount }) => [address, amount])
  const amounts = new Map(found as [string, bigint][])
  for (const [account, amount] of held) t.is(amounts.get(account) ?? 0n, amount)
  t.true(held.size > 0)
  t.is(chain.account(owner, last)?.owner, '11111111111111111111111111111111')
})
