import { SubscribeUpdate } from '@triton-one/yellowstone-grpc'
import test from 'ava'
import { addressBytes, addressFromBytes } from '../../domain/address.ts'
import { createWallets } from '../../domain/wallets.ts'
import { createWalletFilter } from './wallet-filter.ts'

const keyOf = (byte: number) => addressFromBytes(new Uint8Array(32).fill(byte))
const [wallet, stranger] = [keyOf(9), keyOf(8)]
const { judge } = createWalletFilter(() => createWallets([wallet]))

interface Parts {
  readonly keys?: readonly string[]
  readonly loaded?: readonly string[]
  /** Owner and amount of account 0. */
  readonly before?: readonly [string, string]
  readonly after?: readonly [string, string]
  readonly filters?: readonly string[]
}

/** The update of a transaction of strangers, except for these parts. */
function updateOf({ keys = [stranger], loaded = [], before, after, filters }: Parts): Uint8Array {
  const bytesOf = (addresses: readonly string[]) =>
    addresses.map((address) => addressBytes(address as typeof wallet))
  const balances = (one: readonly [string, string] | undefined) =>
    one === undefined
      ? []
      : [{ accountIndex: 0, owner: one[0], uiTokenAmount: { amount: one[1], decimals: 6 } }]
  const update = {
    filters: filters ?? ['wallets'],
    transaction: {
      slot: '5',
      transaction: {
        signature: new Uint8Array(64).fill(1),
        transaction: {
          message: { header: { numRequiredSignatures: 1 }, accountKeys: bytesOf(keys) },
        },
        meta: {
          loadedReadonlyAddresses: bytesOf(loaded),
          preTokenBalances: balances(before),
          postTokenBalances: balances(after),
        },
      },
    },
  }
  // The generated type of a partial message does not accept literals.
  return SubscribeUpdate.encode(SubscribeUpdate.fromPartial(update as never)).finish()
}

test('a transaction is related if it names a wallet or changes a balance that a wallet owns (rule K24)', (t) => {
  const cases: [Parts, ReturnType<typeof judge>][] = [
    [{}, 'unrelated'],
    [{ keys: [stranger, wallet] }, 'related'],
    [{ loaded: [wallet] }, 'related'],
    [{ before: [wallet, '5'], after: [wallet, '6'] }, 'related'],
    [{ before: [wallet, '5'], after: [wallet, '5'] }, 'unrelated'],
    [{ before: [wallet, '5'] }, 'related'],
    [{ after: [wallet, '5'] }, 'related'],
    [{ before: [stranger, '5'], after: [stranger, '6'] }, 'unrelated'],
    [{ filters: ['wallets', 'payments-1'] }, 'related'],
    [{ keys: [wallet], filters: ['wallets', 'cuckoo-probe'] }, 'filter_unknown'],
  ]
  t.deepEqual(
    cases.map(([parts]) => judge(updateOf(parts))),
    cases.map(([, verdict]) => verdict),
  )
})

test('a malformed update is passed on, so that it is counted', (t) => {
  t.is(judge(updateOf({}).subarray(0, 60)), 'related')
})
