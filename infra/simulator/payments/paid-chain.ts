import type { PublicKey } from '@solana/web3.js'
import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import type { Address } from '../../../pipeline/domain/address.ts'
import { encodeBase58 } from '../../../pipeline/domain/base58.ts'
import type { SimulatedChain, TransactionMention } from '../chain.ts'
import { keysOf } from '../grpc/updates.ts'
import { type Key, keyId } from '../market/key.ts'
import { type Bank, openBank } from './bank.ts'
import { readSentTransaction } from './sent-transaction.ts'

/** Takes transactions over RPC: each is executed at once, and is in the block of the next slot. */
export interface SimulatedPayments {
  /**
   * Executes a signed transaction and returns its signature, base58. Rejects with
   * `TransactionRefused`.
   */
  send(wire: Uint8Array, options: { readonly keepFailed: boolean }): Promise<string>
  airdrop(to: PublicKey, lamports: bigint): Promise<string>
  airdropUsdt(owner: PublicKey, amount: bigint): Promise<string>
  /** The bank that executes sent transactions; opened at the first use. */
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

/** The transactions that were sent, by their places in the chain. */
class SentTransactions {
  readonly #bySlot = new Map<number, Sent[]>()
  readonly #places = new Map<string, { readonly slot: number; readonly index: number }>()

  /** Puts a transaction into a slot, after `before` transactions of the base chain. */
  add(info: SubscribeUpdateTransactionInfo, slot: number, before: number): void {
    const sent = this.#bySlot.get(slot) ?? []
    this.#bySlot.set(slot, sent)
    const index = before + sent.length
    const placed = { ...info, index: String(index) }
    sent.push({ info: placed, named: keysOf(placed).named })
    this.#places.set(keyId(info.signature), { slot, index })
  }

  find(signature: Uint8Array) {
    return this.#places.get(keyId(signature))
  }

  /** The sent transactions of a slot, in order. */
  in(slot: number): readonly SubscribeUpdateTransactionInfo[] {
    return (this.#bySlot.get(slot) ?? []).map(({ info }) => info)
  }

  at(slot: number, index: number): SubscribeUpdateTransactionInfo | undefined {
    return this.in(slot).find((info) => info.index === String(index))
  }

  /** The sent transactions that name a key, in slots `from` down to `last`, newest first. */
  *mentionsDown(id: string, from: number, last: number): Generator<TransactionMention> {
    for (const slot of [...this.#bySlot.keys()].sort((a, b) => b - a)) {
      if (slot > from || slot < last) continue
      for (const { info, named } of [...(this.#bySlot.get(slot) ?? [])].reverse())
        if (named.has(id))
          yield { slot, index: Number(info.index), failed: info.meta?.err !== undefined }
    }
  }
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
    readonly absentKeys: Iterable<Key>
    /** Keys that the base chain knows, even if they are paid too. */
    readonly known: Iterable<Address>
  },
): PaidChain {
  const known = new Set<string>(options.known)
  const absentKeys = new Set([...options.absentKeys].map(({ id }) => id))
  const sent = new SentTransactions()
  let opening: Promise<Bank> | undefined
  let opened: Bank | null = null

  async function bank(): Promise<Bank> {
    opening ??= openBank(options.faucetSecret)
    opened = await opening
    return opened
  }

  function append(info: SubscribeUpdateTransactionInfo): string {
    const after = options.newest() + 1
    const slot = base.nextProduced(after, Number.MAX_SAFE_INTEGER)
    if (slot === null) throw new Error('a chain goes on for ever')
    sent.add(info, slot, base.signatures(slot).length)
    // A key that held nothing before its first payment is not in the base chain.
    info.transaction?.message?.accountKeys.forEach((key, at) => {
      const isNew = info.meta?.preBalances[at] === '0' && info.meta.postBalances[at] !== '0'
      if (isNew && !known.has(encodeBase58(key))) absentKeys.add(keyId(key))
    })
    return encodeBase58(info.signature)
  }

  const payments: SimulatedPayments = {
    bank,
    async send(wire, how) {
      const { execute } = await bank()
      const tx = readSentTransaction(wire)
      // Sending a transaction again has no effect.
      return sent.find(tx.signature) ? encodeBase58(tx.signature) : append(execute(tx, how))
    },
    airdrop: async (to, lamports) => append((await bank()).airdrop(to, lamports)),
    airdropUsdt: async (owner, amount) => append((await bank()).airdropUsdt(owner, amount)),
  }
  return { chain: withSent(base, sent, absentKeys, () => opened), payments }
}

/** The chain with the sent transactions, and the bank's accounts. */
function withSent(
  base: SimulatedChain,
  sent: SentTransactions,
  absentKeys: ReadonlySet<string>,
  bank: () => Bank | null,
): SimulatedChain {
  return {
    ...base,
    block(slot) {
      const block = base.block(slot)
      const added = base.kind(slot) === 'produced' ? sent.in(slot) : []
      if (added.length === 0) return block
      return { ...block, transactions: [...block.transactions, ...added] }
    },
    find: (signature) => sent.find(signature) ?? base.find(signature),
    transaction: (slot, index) => sent.at(slot, index) ?? base.transaction(slot, index),
    signature: (slot, index) => sent.at(slot, index)?.signature ?? base.signature(slot, index),
    signatures: (slot) => [
      ...base.signatures(slot),
      ...sent.in(slot).map(({ signature }) => signature),
    ],
    *mentionsDown(id, from, last) {
      // Within a slot, sent transactions come last, and so are the newest.
      const added = [...sent.mentionsDown(id, from, last)]
      for (const found of absentKeys.has(id) ? [] : base.mentionsDown(id, from, last)) {
        while (found !== null && added[0] !== undefined && added[0].slot >= found.slot)
          yield added.shift() ?? null
        yield found
      }
      yield* added
    },
    account: (address, slot) => base.account(address, slot) ?? bank()?.account(address) ?? null,
    tokenAccounts: (owner, slot) => [
      ...base.tokenAccounts(owner, slot),
      ...(bank()?.tokenAccounts(owner) ?? []),
    ],
  }
}
