/** What tests read of a message about a trade: a test gives each trade a block time of its own. */
interface AboutTrade<Data> {
  readonly type?: string
  readonly trade_id: string
  readonly data: Data
}

/**
 * Returns the trades that a client has after these messages, withdrawn ones left out, by their
 * block time. `repeated` are the ids of trades that were sent more than once.
 */
export function heldTrades<Data extends { readonly block_time: number }>(
  messages: readonly AboutTrade<Data>[],
): { readonly held: readonly Data[]; readonly repeated: readonly string[] } {
  const sent = new Set<string>()
  const held = new Map<string, Data>()
  const repeated: string[] = []
  for (const { type, trade_id: id, data } of messages) {
    if (type === 'retracted') held.delete(id)
    else {
      if (sent.has(id)) repeated.push(id)
      sent.add(id)
      held.set(id, data)
    }
  }
  return { held: byBlockTime([...held.values()]), repeated }
}

/** Sorts trades by their block time. */
export function byBlockTime<Data extends { readonly block_time: number }>(
  trades: readonly Data[],
): Data[] {
  return trades.toSorted((a, b) => a.block_time - b.block_time)
}
