import type { PublicKey } from '@solana/web3.js'
import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import type { Address } from '../../../pipeline/domain/address.ts'
import { encodeBase58 } from '../../../pipeline/domain/base58.ts'
import type { SimulatedChain, TransactionMention } from '../chain.ts'
import { keysOf } from '../grpc/updates.ts'
import { type Key, keyId } from '../market/key.ts'
import { type Bank, openBank } from './bank.ts'

/** Takes transactions over RPC: each is executed at once, and is in the block of the next slot. */
export interface SimulatedPayments {
  /** Executes a signed transaction; returns its signature, base58. Rejects with `Refused`. */
  send(wire: Uint8Array, options: { readonly keepFailed: boolean }): Promise<string>
  airdrop(to: PublicKey, lamports: bigint): Promise<string>
  airdropUsdt(owner: PublicKey, amount: bigint): Promise<string>
  /** The bank that executes them; opened at the first use. */
  bank(): Promise<Bank>
}

/** A chain with payments. */
export interface PaidChain {
  /** The base chain; transactions that were sent come last in its blocks. */
  readonly chain: SimulatedChain
  readonly payments: SimulatedPayments
}

/** A transaction that was sent. */
interface Sent {
  readonly info: SubscribeUpdateTransactionInfo
  readonly named: ReadonlySet<string>
}

/**
 * Adds the transactions that clients send to a chain. They do not depend on the seed and are lost
 * when the process ends. `newest` returns the newest slot. The bank takes 90 MB of memory and is
 * opened at the first payment.
 */
export function createPaidChain(
  base: SimulatedChain,
  options: {
    readonly faucetSecret: Uint8Array
    readonly newest: () => number
    /** Keys that the base chain never names. A search for such a key there takes seconds. */
    readonly strangers: Iterable<Key>
    /** Keys that the base chain knows, even if they are paid too. */
    readonly known: Iterable<Address>
  },
): PaidChain {
  const known = new Set<string>(options.known)
  const strangers = new Set([...options.strangers].map(({ id }) => id))
  const slots = new Map<number, Sent[]>()
  const places = new Map<string, { readonly slot: number; readonly index: number }>()
  let opening: Promise<Bank> | undefined
  let opened: Bank | undefined

  async function bank(): Promise<Bank> {
    opening ??= openBank(options.faucetSecret)
    opened = await opening
    return opened
  }

  function place(info: SubscribeUpdateTransactionInfo): string {
    const after = options.newest() + 1
    const slot = base.nextProduced(after, Number.MAX_SAFE_INTEGER)
    if (slot === null) throw new Error('a chain goes on for ever')
    const sent = slots.get(slot) ?? []
    slots.set(slot, sent)
    const index = base.signatures(slot).length + sent.length
    const placed = { ...info, index: String(index) }
    sent.push({ info: placed, named: keysOf(placed).named })
    places.set(keyId(info.signature), { slot, index })
    // A key that held nothing before its first payment is not in the base chain.
    info.transaction?.message?.accountKeys.forEach((key, at) => {
      const isNew = info.meta?.preBalances[at] === '0' && info.meta.postBalances[at] !== '0'
      if (isNew && !known.has(encodeBase58(key))) strangers.add(keyId(key))
    })
    return encodeBase58(info.signature)
  }

  const payments: SimulatedPayments = {
    bank,
    async send(wire, how) {
      const { execute } = await bank()
      // Sending a transaction again has no effect. Its first signature follows the signature count.
      const known = places.has(keyId(wire.subarray(1, 65)))
      return known ? encodeBase58(wire.subarray(1, 65)) : place(execute(wire, how))
    },
    async airdrop(to, lamports) {
      return place((await bank()).airdrop(to, lamports))
    },
    async airdropUsdt(owner, amount) {
      return place((await bank()).airdropUsdt(owner, amount))
    },
  }

  const sentAt = (slot: number, index: number) =>
    slots.get(slot)?.find(({ info }) => info.index === String(index))

  /** Sent transactions that name a key, in slots `from` down to `last`, newest first. */
  function* sentDown(id: string, from: number, last: number): Generator<TransactionMention> {
    for (const slot of [...slots.keys()].sort((a, b) => b - a)) {
      if (slot > from || slot < last) continue
      for (const { info, named } of [...(slots.get(slot) ?? [])].reverse())
        if (named.has(id))
          yield { slot, index: Number(info.index), failed: info.meta?.err !== undefined }
    }
  }

  const chain: SimulatedChain = {
    ...base,
    block(slot) {
      const block = base.block(slot)
      const sent = base.kind(slot) === 'produced' ? slots.get(slot) : undefined
      if (sent === undefined) return block
      return { ...block, transactions: [...block.transactions, ...sent.map(({ info }) => info)] }
    },
    find: (signature) => places.get(keyId(signature)) ?? base.find(signature),
    transaction: (slot, index) => sentAt(slot, index)?.info ?? base.transaction(slot, index),
    signature: (slot, index) => sentAt(slot, index)?.info.signature ?? base.signature(slot, index),
    signatures: (slot) => [
      ...base.signatures(slot),
      ...(slots.get(slot) ?? []).map(({ info }) => info.signature),
    ],
    *mentionsDown(id, from, last) {
      // Within a slot, sent transactions come last, and so are the newest.
      const sent = [...sentDown(id, from, last)]
      for (const found of strangers.has(id) ? [] : base.mentionsDown(id, from, last)) {
        while (found !== null && sent[0] !== undefined && sent[0].slot >= found.slot)
          yield sent.shift() ?? null
        yield found
      }
      yield* sent
    },
    account: (address, slot) => base.account(address, slot) ?? opened?.account(address) ?? null,
    tokenAccounts: (owner, slot) => [
      ...base.tokenAccounts(owner, slot),
      ...(opened?.tokenAccounts(owner) ?? []),
    ],
  }
  return { chain, payments }
}
