import type { SubscribeUpdateTransaction } from '@triton-one/yellowstone-grpc'

type Random = () => number

/** Returns a generator of numbers in [0, 1) from a seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000
  }
}

/**
 * Returns a copy of an update with one to four faults. Data or accounts are cut, bytes changed,
 * instructions lost, doubled or moved. Heights, programs, indexes and amounts become absurd.
 * Owners, mints and whole lists disappear. The types of the codec still hold: numbers are numbers,
 * u64 are digits.
 */
export function mutateUpdate(
  update: SubscribeUpdateTransaction,
  seed: number,
): SubscribeUpdateTransaction {
  const random = randomFrom(seed)
  const copy = structuredClone(update)
  for (let times = 1 + Math.floor(random() * 4); times > 0; times--) {
    const mutation = MUTATIONS[Math.floor(random() * MUTATIONS.length)]!
    mutation(copy, random)
  }
  return copy
}

type Mutation = (update: SubscribeUpdateTransaction, random: Random) => void

const MUTATIONS: readonly Mutation[] = [
  onInstruction((instruction, random) => {
    instruction.data = instruction.data.slice(0, Math.floor(random() * instruction.data.length))
  }),
  onInstruction((instruction, random) => {
    instruction.accounts = instruction.accounts.slice(
      0,
      Math.floor(random() * instruction.accounts.length),
    )
  }),
  onInstruction(({ data }, random) => {
    if (data.length > 0) data[Math.floor(random() * data.length)] = Math.floor(random() * 256)
  }),
  onInstruction(({ data }, random) => {
    // The largest amount, at a usual offset of amounts.
    data.fill(255, Math.min(data.length, 1 + Math.floor(random() * 8)))
  }),
  onInstruction(({ accounts }, random) => {
    if (accounts.length > 0)
      accounts[Math.floor(random() * accounts.length)] = Math.floor(random() * 20)
  }),
  onInstruction((instruction, random) => {
    instruction.programIdIndex = Math.floor(random() * 30)
  }),
  onInstruction((instruction, random) => {
    if ('stackHeight' in instruction) instruction.stackHeight = Math.floor(random() * 300)
  }),
  ({ transaction }, random) => {
    const groups = transaction?.meta?.innerInstructions ?? []
    const group = groups[Math.floor(random() * groups.length)]
    if (group === undefined) return
    const at = Math.floor(random() * group.instructions.length)
    const [taken] = group.instructions.splice(at, 1)
    if (taken !== undefined && random() < 0.5) group.instructions.push(taken, taken)
  },
  onTokenBalance((balance, random) => {
    if (balance.uiTokenAmount !== undefined) {
      balance.uiTokenAmount.amount =
        random() < 0.5 ? '18446744073709551615' : String(Math.floor(random() * 1000))
    }
  }),
  onTokenBalance((balance, random) => {
    balance.accountIndex = Math.floor(random() * 40)
  }),
  onTokenBalance((balance) => {
    balance.owner = ''
  }),
  onTokenBalance((balance, random) => {
    balance.mint = random() < 0.5 ? '0'.repeat(40) : 'So11111111111111111111111111111111111111112'
  }),
  onTokenBalance((balance, random) => {
    if (balance.uiTokenAmount !== undefined)
      balance.uiTokenAmount.decimals = Math.floor(random() * 300)
  }),
  ({ transaction }, random) => {
    const meta = transaction?.meta
    if (meta === undefined) return
    const which = Math.floor(random() * 4)
    if (which === 0) meta.preTokenBalances = []
    if (which === 1) meta.postTokenBalances = []
    if (which === 2) meta.innerInstructions = []
    if (which === 3) meta.innerInstructionsNone = true
  },
  ({ transaction }, random) => {
    const balances =
      random() < 0.5 ? transaction?.meta?.preBalances : transaction?.meta?.postBalances
    if (balances === undefined || balances.length === 0) return
    balances[Math.floor(random() * balances.length)] = random() < 0.5 ? '0' : '18446744073709551615'
  },
  ({ transaction }, random) => {
    const keys = transaction?.transaction?.message?.accountKeys
    if (keys === undefined) return
    if (random() < 0.2) keys.pop()
    else keys[Math.floor(random() * keys.length)] = new Uint8Array(random() < 0.2 ? 31 : 32)
  },
  ({ transaction }) => {
    const message = transaction?.transaction?.message
    if (message !== undefined) message.header = undefined
  },
  ({ transaction }) => {
    if (transaction !== undefined) transaction.meta = undefined
  },
]

type Info = NonNullable<SubscribeUpdateTransaction['transaction']>
type Meta = NonNullable<Info['meta']>
type Inner = Meta['innerInstructions'][number]['instructions'][number]
type Top = NonNullable<NonNullable<Info['transaction']>['message']>['instructions'][number]

function onInstruction(change: (instruction: Top | Inner, random: Random) => void): Mutation {
  return ({ transaction }, random) => {
    const all: (Top | Inner)[] = [
      ...(transaction?.transaction?.message?.instructions ?? []),
      ...(transaction?.meta?.innerInstructions ?? []).flatMap(({ instructions }) => instructions),
    ]
    const chosen = all[Math.floor(random() * all.length)]
    if (chosen !== undefined) change(chosen, random)
  }
}

function onTokenBalance(
  change: (balance: Meta['preTokenBalances'][number], random: Random) => void,
): Mutation {
  return ({ transaction }, random) => {
    const meta = transaction?.meta
    const all = [...(meta?.preTokenBalances ?? []), ...(meta?.postTokenBalances ?? [])]
    const chosen = all[Math.floor(random() * all.length)]
    if (chosen !== undefined) change(chosen, random)
  }
}
