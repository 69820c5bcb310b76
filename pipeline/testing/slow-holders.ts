import type { ServedEvent } from './slow-market.ts'

/** A wallet that holds a token, by its swaps. */
export interface SlowHolder {
  readonly wallet: number
  readonly bought: bigint
  readonly held: bigint
  readonly spent: bigint
  /** Cost of the open lots. */
  readonly cost: bigint
  readonly firstBuy: ServedEvent | undefined
}

/** Returns the wallets that hold by their swaps, by number. */
export function holdersOf(past: readonly ServedEvent[]): SlowHolder[] {
  const wallets = [...new Set(past.map(({ wallet }) => wallet))].sort((a, b) => a - b)
  return wallets.flatMap((wallet) => {
    const own = past.filter((event) => event.wallet === wallet)
    const buys = own.filter(({ kind }) => kind === 'buy')
    const bought = buys.reduce((sum, { amount }) => sum + amount, 0n)
    const sold = own
      .filter(({ kind }) => kind === 'sell')
      .reduce((sum, { amount }) => sum + amount, 0n)
    if (bought <= sold) return []
    const spent = buys.reduce((sum, { value }) => sum + (value ?? 0n), 0n)
    const firstBuy = buys[0]
    return [{ wallet, bought, held: bought - sold, spent, cost: openCost(own), firstBuy }]
  })
}

/** Cost of the remaining lots of a wallet (rules C2 to C4). */
function openCost(own: readonly ServedEvent[]): bigint {
  const lots: { readonly amount: bigint; readonly cost: bigint; left: bigint; leftCost: bigint }[] =
    []
  for (const { kind, amount, value } of own) {
    if (kind === 'buy' || kind === 'token_in') {
      const cost = kind === 'buy' ? (value ?? 0n) : 0n
      lots.push({ amount, cost, left: amount, leftCost: cost })
      continue
    }
    let wanted = amount
    for (const lot of lots) {
      const isWhole = wanted >= lot.left
      const taken = isWhole ? lot.left : wanted
      const cost = isWhole ? lot.leftCost : (lot.cost * taken) / lot.amount
      lot.left -= taken
      lot.leftCost -= cost
      wanted -= taken
    }
  }
  return lots.reduce((sum, { leftCost }) => sum + leftCost, 0n)
}
