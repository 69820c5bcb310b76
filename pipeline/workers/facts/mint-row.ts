import type { Address } from '../../domain/address.ts'
import type { MintAccount, MintText } from '../../ingest/rpc/mint-account.ts'

/** What RPC said of a mint: null for what is not there. */
export interface MintAnswer {
  readonly mint: MintAccount | null
  readonly metaplex: MintText | null
}

/** Row of table `mints`, as it is read. */
export type MintRow = {
  readonly mint: Address
  readonly token_program: 'none' | MintAccount['program']
  readonly decimals: number | null
  readonly supply: string | null
  readonly symbol: string
  readonly name: string
  readonly metadata: 'none' | 'token_2022' | 'metaplex'
  readonly fetched_at: number | null
  readonly asked: number
  readonly ask_again_at: number | null
}

/** Seconds until what was missing is asked for again, after the first answer, the second, ...; then never. Four days in all. */
export const ASK_AGAIN_AFTER = [5, 30, 180, 1080, 6480, 38_880, 233_280]

/**
 * The row that follows from an answer. Decimals and supply are those of the first answer that had them, for ever (rule C15), and so are symbol and
 * name; what the answer lacks is asked for again. Of two first answers the earlier one's row wins (`version`). `nowMs`: when the answer came.
 */
export function mintRow(
  mint: Address,
  before: MintRow | null,
  answer: MintAnswer,
  nowMs: number,
): MintRow & { readonly version: bigint } {
  const now = Math.floor(nowMs / 1000)
  const asked = (before?.asked ?? 0) + 1
  const facts = before?.supply != null ? before : factsOf(answer.mint, now)
  const texts = before !== null && before.metadata !== 'none' ? before : textsOf(answer)
  const isWhole = facts.supply !== null && texts.metadata !== 'none'
  const pause = isWhole ? undefined : ASK_AGAIN_AFTER[asked - 1]
  return {
    mint,
    token_program: facts.token_program,
    decimals: facts.decimals,
    supply: facts.supply,
    symbol: texts.symbol,
    name: texts.name,
    metadata: texts.metadata,
    fetched_at: facts.fetched_at,
    asked,
    ask_again_at: pause === undefined ? null : now + pause,
    version: BigInt(asked) * SPAN + (SPAN - 1n - BigInt(nowMs)),
  }
}

/** Milliseconds until the year 10889. */
const SPAN = 1n << 48n

function factsOf(mint: MintAccount | null, now: number) {
  return mint === null
    ? { token_program: 'none' as const, decimals: null, supply: null, fetched_at: null }
    : {
        token_program: mint.program,
        decimals: mint.decimals,
        supply: mint.supply.toString(),
        fetched_at: now,
      }
}

/** A mint's own extension goes before what the program of Metaplex has about it. */
function textsOf({ mint, metaplex }: MintAnswer): Pick<MintRow, 'symbol' | 'name' | 'metadata'> {
  if (mint?.text) return { ...mint.text, metadata: 'token_2022' }
  if (metaplex) return { ...metaplex, metadata: 'metaplex' }
  return { symbol: '', name: '', metadata: 'none' }
}
