import type { Address } from '../../domain/address.ts'
import type { MintAccount, MintText } from '../../ingest/rpc/mint-account.ts'
import type { MintRow } from '../../store/tables/mints.ts'

/**
 * RPC's answer about a mint: the mint account and its Metaplex metadata, null where there is none.
 */
export interface MintAnswer {
  readonly mint: MintAccount | null
  readonly metaplex: MintText | null
}

/**
 * Seconds until missing facts are requested again after each response: four days in all, then
 * never.
 */
export const ASK_AGAIN_AFTER = [5, 30, 180, 1080, 6480, 38_880, 233_280]

/**
 * Returns the row that follows from a response and the row before it. Decimals and supply stay
 * those of the first response that has them (rule C15), and so do symbol and name. Missing facts
 * are requested again. `version` lets the later response win, and of two first responses the
 * earlier one. `nowMs`: when the response came.
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

/** Text of the mint's own metadata extension (Token-2022) goes before that of Metaplex. */
function textsOf({ mint, metaplex }: MintAnswer): Pick<MintRow, 'symbol' | 'name' | 'metadata'> {
  if (mint?.text) return { ...mint.text, metadata: 'token_2022' }
  if (metaplex) return { ...metaplex, metadata: 'metaplex' }
  return { symbol: '', name: '', metadata: 'none' }
}
