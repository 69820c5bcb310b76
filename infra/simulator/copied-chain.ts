import { createHash } from 'node:crypto'
import type { SubscribeUpdateTransactionInfo } from '@triton-one/yellowstone-grpc'
import { LRUCache } from 'lru-cache'
import type { Address } from '../../pipeline/domain/address.ts'
import { decodeBase58, encodeBase58 } from '../../pipeline/domain/base58.ts'
import { accountKeysOf, type Block } from './block.ts'
import type { SimulatedChain } from './chain.ts'
import { type Key, keyId } from './market/key.ts'
import type { CopiesOptions } from './options.ts'

/** A chain with copies of wallets, and their addresses. */
export interface CopiedChain {
  readonly chain: SimulatedChain
  /** The wallets themselves, then the first copy of each, and so on. */
  readonly wallets: readonly Address[]
}

/**
 * Adds copies of wallets to a chain, so that very many wallets trade at little cost: a transaction
 * is made once, and then sent once for each copy. Each copy does what the one before did a slot
 * earlier, with a wallet and token accounts of its own; mints and pools are shared. So the balances
 * of each copy continue from transaction to transaction. The chain must have a block in every slot.
 * RPC finds the copies' accounts and blocks, and no transaction by its signature or address.
 */
export function copyWallets(
  chain: SimulatedChain,
  originals: readonly Key[],
  { count, at }: CopiesOptions,
): CopiedChain {
  const copier = new Copier(originals, count)
  const templates = new LRUCache<number, readonly Template[]>({
    max: count + 64,
    memoMethod: (slot) => chain.block(slot).transactions.map((info) => copier.prepare(info)),
  })
  const transactions = new LRUCache<number, readonly SubscribeUpdateTransactionInfo[]>({
    max: 4,
    memoMethod: (slot) => {
      const copies = Array.from({ length: Math.min(count, at(slot)) }, (_, copy) =>
        templates.memo(slot - copy).map((template) => copier.copy(template, copy)),
      )
      return copies.flat().map((info, index) => ({ ...info, index: String(index) }))
    },
  })
  const block = (slot: number): Block => {
    const { parent, blockhash, parentBlockhash, time, height } = chain.block(slot)
    return {
      slot,
      parent,
      blockhash,
      parentBlockhash,
      time,
      height,
      get transactions() {
        return transactions.memo(slot)
      },
      get accounts() {
        return chain.block(slot).accounts
      },
    }
  }
  return {
    wallets: copier.wallets,
    chain: {
      ...chain,
      firstSlot: chain.firstSlot + count,
      block,
      find: () => null,
      transaction: (slot, index) => transactions.memo(slot)[index],
      signature(slot, index) {
        const info = transactions.memo(slot)[index]
        if (info === undefined) throw new Error('there is no such transaction')
        return info.signature
      },
      signatures: (slot) => transactions.memo(slot).map(({ signature }) => signature),
      *mentionsDown() {},
      account(address, slot) {
        const { original, copy } = copier.find(address)
        return chain.account(original, slot - copy)
      },
      tokenAccounts(owner, slot) {
        const { original, copy } = copier.find(owner)
        const found = chain.tokenAccounts(original, slot - copy)
        return found.map((account) => ({
          ...account,
          address: copier.addressOf(account.address, copy),
          owner,
        }))
      },
    },
  }
}

/** A transaction, and what is different in its copies. */
interface Template {
  readonly info: SubscribeUpdateTransactionInfo
  /** Ids of the keys of tracked wallets and of their token accounts. */
  readonly own: ReadonlySet<string>
  /** Bytes of the wallets that instruction data name. */
  readonly inData: readonly Buffer[]
}

class Copier {
  readonly wallets: readonly Address[]
  readonly #originals: readonly Key[]
  readonly #numbers: ReadonlyMap<string, number>
  readonly #ids: ReadonlySet<string>
  #places: ReadonlyMap<string, number> | undefined

  constructor(originals: readonly Key[], count: number) {
    this.#originals = originals
    this.#numbers = new Map(originals.map(({ address }, number) => [address, number]))
    this.#ids = new Set(originals.map(({ id }) => id))
    this.wallets = Array.from({ length: count }, (_, copy) =>
      originals.map(({ bytes }) => encodeBase58(copyOf(bytes, copy)) as Address),
    ).flat()
  }

  prepare(info: SubscribeUpdateTransactionInfo): Template {
    const keys = accountKeysOf(info)
    const { preTokenBalances = [], postTokenBalances = [] } = info.meta ?? {}
    const owned = [...preTokenBalances, ...postTokenBalances]
      .filter(({ owner }) => this.#numbers.has(owner))
      .map(({ accountIndex }) => keys[accountIndex] ?? NO_KEY)
    const wallets = keys.filter((key) => this.#ids.has(keyId(key)))
    const data = [
      ...(info.transaction?.message?.instructions ?? []),
      ...(info.meta?.innerInstructions ?? []).flatMap(({ instructions }) => instructions),
    ].map((instruction) => Buffer.from(instruction.data))
    return {
      info,
      own: new Set([...wallets, ...owned].map(keyId)),
      inData: wallets.map((key) => Buffer.from(key)).filter((key) => data.some(has(key))),
    }
  }

  copy({ info, own, inData }: Template, copy: number): SubscribeUpdateTransactionInfo {
    const { transaction, meta } = info
    if (copy === 0 || !transaction?.message || !meta) return info
    const { message } = transaction
    const signature = createHash('sha512').update(info.signature).update(`/${copy}`).digest()
    const keysOf = (keys: readonly Uint8Array[]) =>
      keys.map((key) => (own.has(keyId(key)) ? copyOf(key, copy) : key))
    const dataOf = <T extends { readonly data: Uint8Array }>(instructions: readonly T[]): T[] =>
      inData.length === 0
        ? [...instructions]
        : instructions.map((one) => ({ ...one, data: replaceKeys(one.data, inData, copy) }))
    const balancesOf = <T extends { readonly owner: string }>(balances: readonly T[]): T[] =>
      balances.map((balance) => {
        const number = this.#numbers.get(balance.owner)
        return number === undefined ? balance : { ...balance, owner: this.#wallet(number, copy) }
      })
    return {
      ...info,
      signature,
      transaction: {
        ...transaction,
        signatures: [signature, ...transaction.signatures.slice(1)],
        message: {
          ...message,
          accountKeys: keysOf(message.accountKeys),
          instructions: dataOf(message.instructions),
        },
      },
      meta: {
        ...meta,
        innerInstructions: meta.innerInstructions.map((inner) => ({
          ...inner,
          instructions: dataOf(inner.instructions),
        })),
        preTokenBalances: balancesOf(meta.preTokenBalances),
        postTokenBalances: balancesOf(meta.postTokenBalances),
        loadedWritableAddresses: keysOf(meta.loadedWritableAddresses),
        loadedReadonlyAddresses: keysOf(meta.loadedReadonlyAddresses),
      },
    }
  }

  /** The wallet of which an address is a copy, and which copy; any other address is itself. */
  find(address: string): { readonly original: string; readonly copy: number } {
    this.#places ??= new Map(this.wallets.map((wallet, place) => [wallet, place]))
    const place = this.#places.get(address)
    if (place === undefined) return { original: address, copy: 0 }
    const original = this.#originals[place % this.#originals.length]
    return {
      original: original?.address ?? address,
      copy: Math.floor(place / this.#originals.length),
    }
  }

  /** The address of the copy of a token account. */
  addressOf(address: string, copy: number): string {
    return encodeBase58(copyOf(decodeBase58(address) ?? NO_KEY, copy))
  }

  #wallet(number: number, copy: number): Address {
    const wallet = this.wallets[copy * this.#originals.length + number]
    if (wallet === undefined) throw new Error('there is no such copy')
    return wallet
  }
}

const NO_KEY = new Uint8Array(32)

/** The key that a copy has in place of this one. */
function copyOf(key: Uint8Array, copy: number): Uint8Array {
  return copy === 0 ? key : createHash('sha256').update(key).update(`/${copy}`).digest()
}

const has = (key: Buffer) => (data: Buffer) => data.includes(key)

/** Data with the copies of keys in place of the keys. */
function replaceKeys(data: Uint8Array, keys: readonly Buffer[], copy: number): Uint8Array {
  const replaced = Buffer.from(data)
  for (const key of keys)
    for (let at = replaced.indexOf(key); at >= 0; at = replaced.indexOf(key, at + key.length))
      replaced.set(copyOf(key, copy), at)
  return replaced
}
