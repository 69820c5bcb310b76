import {
  CommitmentLevel,
  type CuckooFilter,
  SlotStatus,
  type SubscribeRequest,
  type SubscribeRequestFilterAccounts,
  type SubscribeRequestFilterSlots,
  type SubscribeRequestFilterTransactions,
  TokenAccountExpansionControlFlag,
} from '@triton-one/yellowstone-grpc'
import bs58 from 'bs58'
import { keyId } from '../market/key.ts'
import { memo } from '../memo.ts'
import { createCuckooMatcher } from './cuckoo.ts'
import type { KeysOfTransaction, StreamUpdate } from './updates.ts'
import { writeVarint } from './varint.ts'

/** The compiled filters of one client. */
export interface CompiledSubscription {
  readonly commitment: CommitmentLevel
  /**
   * The names of the filters that match, encoded as they precede the update's body; null when none
   * matches.
   */
  namesFor(update: StreamUpdate): Buffer | null
}

type Test = (update: StreamUpdate) => boolean

/**
 * Compiles the filters of a request by the plugin's rules: within a filter, fields are joined by
 * "and" and the values of a list by "or". Without `knowsCuckoo`, cuckoo filters of transactions are
 * ignored.
 */
export function compileSubscription(
  request: SubscribeRequest,
  { knowsCuckoo }: { readonly knowsCuckoo: boolean },
): CompiledSubscription {
  const commitment = request.commitment ?? CommitmentLevel.PROCESSED
  const tests: { kind: StreamUpdate['kind']; name: string; test: Test }[] = []
  const add = <F>(
    kind: StreamUpdate['kind'],
    filters: Record<string, F>,
    make: (filter: F) => Test,
  ) => {
    for (const [name, filter] of Object.entries(filters)) {
      tests.push({ kind, name, test: make(filter) })
    }
  }
  add('slot', request.slots, (filter) => slotTest(filter, commitment))
  add('transaction', request.transactions, (filter) =>
    transactionTest(knowsCuckoo ? filter : { ...filter, cuckooAccountInclude: undefined }),
  )
  add('account', request.accounts, accountTest)
  add('blockMeta', request.blocksMeta, () => () => true)
  const encoded = memo(encodeNames)
  return {
    commitment,
    namesFor(update) {
      let names = ''
      for (const { kind, name, test } of tests) {
        if (kind === update.kind && test(update)) names += `${name}\n`
      }
      return names === '' ? null : encoded(names)
    },
  }
}

/** Encodes names, each with a line end, as field 1 of `SubscribeUpdate`, a repeated string. */
function encodeNames(names: string): Buffer {
  return Buffer.concat(
    names
      .split('\n')
      .slice(0, -1)
      .flatMap((name) => {
        const text = Buffer.from(name, 'utf8')
        return [Buffer.of(0x0a), writeVarint(text.length), text]
      }),
  )
}

/** Other statuses, such as `DEAD`, are sent only with `interslotUpdates`. */
function slotTest(filter: SubscribeRequestFilterSlots, commitment: CommitmentLevel): Test {
  const plain: readonly SlotStatus[] = [
    SlotStatus.SLOT_PROCESSED,
    SlotStatus.SLOT_CONFIRMED,
    SlotStatus.SLOT_FINALIZED,
  ]
  return (update) =>
    update.kind === 'slot' &&
    (filter.filterByCommitment
      ? update.status === plain[commitment]
      : filter.interslotUpdates === true || plain.includes(update.status))
}

function transactionTest(filter: SubscribeRequestFilterTransactions): Test {
  const include = keySet(filter.accountInclude)
  const exclude = keySet(filter.accountExclude)
  const required = keySet(filter.accountRequired)
  const signature = filter.signature === undefined ? null : keyId(bs58.decode(filter.signature))
  const cuckoo = cuckooTest(filter.cuckooAccountInclude)
  const owners = (keys: KeysOfTransaction): ReadonlySet<string> => {
    if (filter.tokenAccounts === undefined) return NOBODY
    return filter.tokenAccounts === TokenAccountExpansionControlFlag.ALL
      ? keys.owners
      : keys.changedOwners
  }
  return (update) => {
    if (update.kind !== 'transaction') return false
    const { info, keys } = update
    if (filter.vote !== undefined && filter.vote !== info.isVote) return false
    if (filter.failed !== undefined && filter.failed !== (info.meta?.err !== undefined))
      return false
    if (signature !== null && keyId(info.signature) !== signature) return false
    const mine = owners(keys)
    const names = (id: string, address: string) => keys.named.has(id) || mine.has(address)
    const anyOf = (set: ReadonlyMap<string, string>) => {
      if (set.size < keys.named.size + mine.size) {
        for (const [address, id] of set) if (names(id, address)) return true
        return false
      }
      const ids = idsOf(set)
      for (const id of keys.named) if (ids.has(id)) return true
      for (const address of mine) if (set.has(address)) return true
      return false
    }
    if (include.size > 0 || cuckoo !== null) {
      const included = include.size > 0 && anyOf(include)
      if (!included && !(cuckoo?.(keys.named, mine) ?? false)) return false
    }
    if (exclude.size > 0 && anyOf(exclude)) return false
    for (const [address, id] of required) if (!names(id, address)) return false
    return true
  }
}

const NOBODY: ReadonlySet<string> = new Set()

/** Addresses of a filter, with their key ids. */
function keySet(addresses: readonly string[]): ReadonlyMap<string, string> {
  return new Map(addresses.map((address) => [address, keyId(bs58.decode(address))]))
}

function idsOf(set: ReadonlyMap<string, string>): ReadonlySet<string> {
  let ids = idSets.get(set)
  if (ids === undefined) {
    ids = new Set(set.values())
    idSets.set(set, ids)
  }
  return ids
}
const idSets = new WeakMap<ReadonlyMap<string, string>, ReadonlySet<string>>()

function cuckooTest(
  filter: CuckooFilter | undefined,
): ((named: ReadonlySet<string>, owners: ReadonlySet<string>) => boolean) | null {
  if (filter === undefined) return null
  const matches = createCuckooMatcher(filter)
  return (named, owners) => {
    for (const id of named) if (matches(Buffer.from(id, 'latin1'))) return true
    for (const address of owners) if (matches(bs58.decode(address))) return true
    return false
  }
}

function accountTest(filter: SubscribeRequestFilterAccounts): Test {
  const accounts = keySet(filter.account)
  const owners = keySet(filter.owner)
  const cuckoo =
    filter.cuckooAccountsFilter === undefined
      ? null
      : createCuckooMatcher(filter.cuckooAccountsFilter)
  return (update) => {
    const account = update.kind === 'account' ? update.update.account : undefined
    if (account === undefined) return false
    const wanted =
      (accounts.size === 0 && cuckoo === null) ||
      idsOf(accounts).has(keyId(account.pubkey)) ||
      (cuckoo?.(account.pubkey) ?? false)
    if (!wanted) return false
    return owners.size === 0 || idsOf(owners).has(keyId(account.owner))
  }
}
