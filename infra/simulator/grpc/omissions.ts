import bs58 from 'bs58'
import type { Address } from '../../../pipeline/domain/address.ts'
import { keyId } from '../market/key.ts'
import type { Omission, TroubleAt } from '../options.ts'
import { hash32 } from '../random.ts'
import type { StreamTransactionUpdate } from './updates.ts'

/** One of this many transactions is left out. */
const SINGLE_EVERY = 40
/** A wallet with several transactions in a slot loses one of them this rarely. */
const TWIN_EVERY = 4
/** The slots are divided into windows, and one of so many begins with an outage of one wallet. */
const WINDOW_SLOTS = 128
const OUTAGE_EVERY = 4
const OUTAGE_SLOTS = 24

/** A wallet that the stream has left out by request, and since which slot. */
interface Request {
  readonly wallet: Address
  readonly fromSlot: number
  toSlot: number
}

/**
 * Which transactions the stream leaves out, live and replayed. RPC has them, and nothing on the
 * stream tells that they are missing.
 */
export class Omissions {
  readonly #seed: number
  readonly #wallets: readonly Address[]
  readonly #troubleAt: TroubleAt
  readonly #requests: Request[] = []

  /** `wallets` are the tracked ones. */
  constructor(seed: number, wallets: readonly Address[], troubleAt: TroubleAt) {
    this.#seed = seed
    this.#wallets = wallets
    this.#troubleAt = troubleAt
  }

  /** Leaves out all transactions of a wallet from a slot on, until the next call. */
  request(wallet: Address | null, fromSlot: number): void {
    const current = this.#requests.at(-1)
    if (current !== undefined) current.toSlot = Math.min(current.toSlot, fromSlot - 1)
    if (wallet !== null) this.#requests.push({ wallet, fromSlot, toSlot: Infinity })
  }

  /** The transactions of a block that are left out, by index. */
  of(slot: number, block: readonly StreamTransactionUpdate[]): ReadonlyMap<number, Omission> {
    const found = new Map<number, Omission>()
    const isOn = (kind: Omission) => this.#troubleAt(kind, slot)
    if (isOn('omittedTwins'))
      for (const index of this.#twins(slot, block)) found.set(index, 'omittedTwins')
    if (isOn('omittedSingly'))
      for (const index of block.keys())
        if (hash32(this.#seed, 'omitted', slot, index) % SINGLE_EVERY === 0)
          found.set(index, 'omittedSingly')
    for (const wallet of this.#silentWallets(slot, isOn('omittedWallets')))
      for (const index of indexesOf(wallet, block)) found.set(index, 'omittedWallets')
    return found
  }

  /** One transaction of each wallet that has several in the slot and is unlucky. */
  #twins(slot: number, block: readonly StreamTransactionUpdate[]): number[] {
    return this.#wallets.flatMap((wallet, at) => {
      const hash = hash32(this.#seed, 'twins', slot, at)
      if (hash % TWIN_EVERY !== 0) return []
      const own = indexesOf(wallet, block)
      const index = own[Math.floor(hash / TWIN_EVERY) % own.length]
      return own.length < 2 || index === undefined ? [] : [index]
    })
  }

  #silentWallets(slot: number, hasOutages: boolean): Address[] {
    const silent = this.#requests.flatMap(({ wallet, fromSlot, toSlot }) =>
      fromSlot <= slot && slot <= toSlot ? [wallet] : [],
    )
    const window = Math.floor(slot / WINDOW_SLOTS)
    const hash = hash32(this.#seed, 'outage', window)
    const wallet = this.#wallets[Math.floor(hash / OUTAGE_EVERY) % this.#wallets.length]
    const isOut = hash % OUTAGE_EVERY === 0 && slot - window * WINDOW_SLOTS < OUTAGE_SLOTS
    return hasOutages && isOut && wallet !== undefined ? [...silent, wallet] : silent
  }
}

/** Indexes of the transactions that name a wallet, or it as the owner of a token account. */
function indexesOf(wallet: Address, block: readonly StreamTransactionUpdate[]): number[] {
  const id = keyId(bs58.decode(wallet))
  return block.flatMap(({ keys }, index) =>
    keys.named.has(id) || keys.owners.has(wallet) ? [index] : [],
  )
}
