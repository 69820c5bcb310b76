import fc from 'fast-check'
import { anchorDiscriminator } from '../decode/program.ts'
import { USDC, WSOL } from '../domain/quote.ts'
import { RENT, TransactionStory } from './transaction-story.ts'

/** Program id of PumpSwap, the venue of these stories. */
export const PUMPSWAP = 'pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA'
const TIP = '96gYZGLnJYVFmbjzopPSU6QiEV5fGqZNyN9nmNhvrZU5'
/** Instruction data of a PumpSwap swap. */
export const SWAP = anchorDiscriminator('buy')

/** One step of a story about the wallet `w`. */
export type StoryAction = (story: TransactionStory) => void

/** Any raw amount or lamports. */
export const amount = fc.bigInt(1n, 1_000_000n)
/** Any base mint of the stories. */
export const baseMint = fc.constantFrom('COIN', 'OTHER', 'THIRD')
/** Any mint of the stories. */
export const anyMint = fc.constantFrom('COIN', 'OTHER', 'THIRD', WSOL, USDC)

function exchange(give: string, given: bigint, get: string, got: bigint): StoryAction {
  return (story) => {
    story.transfer(`w ${give}`, `pool ${give}`, given).transfer(`pool ${get}`, `w ${get}`, got)
  }
}

/** Transfers that exchange one mint for another, without a program around them. */
export const exchanged = fc
  .tuple(anyMint, amount, anyMint, amount)
  .map(([give, given, get, got]) => exchange(give, given, get, got))

/** A swap on PumpSwap. */
export const swapAction: fc.Arbitrary<StoryAction> = exchanged.map((moves) => (story) => {
  story.call(PUMPSWAP, SWAP, ['w'], () => moves(story))
})

/** An exchange by an unknown program. */
export const unknownVenueAction: fc.Arbitrary<StoryAction> = exchanged.map((moves) => (story) => {
  story.call('a new venue', Uint8Array.of(1), ['w'], () => moves(story))
})

/** A transfer, mint, burn or direct credit. */
export const transferAction: fc.Arbitrary<StoryAction> = fc.oneof(
  fc.tuple(anyMint, amount).map(
    ([m, a]): StoryAction =>
      (story) =>
        story.transfer(`w ${m}`, `pool ${m}`, a),
  ),
  fc.tuple(anyMint, amount).map(
    ([m, a]): StoryAction =>
      (story) =>
        story.transfer(`pool ${m}`, `w ${m}`, a),
  ),
  amount.map(
    (a): StoryAction =>
      (story) =>
        story.transferSol('w', 'friend', a),
  ),
  amount.map(
    (a): StoryAction =>
      (story) =>
        story.transferSol('friend', 'w', a),
  ),
  amount.map(
    (a): StoryAction =>
      (story) =>
        story.credit('friend', 'w', a),
  ),
  fc.tuple(baseMint, amount).map(
    ([m, a]): StoryAction =>
      (story) =>
        story.mintTo(m, `w ${m}`, a),
  ),
  fc.tuple(baseMint, amount).map(
    ([m, a]): StoryAction =>
      (story) =>
        story.burn(`w ${m}`, a),
  ),
)

/**
 * An action that moves nothing of w's: a wrap, rent, a tip, a move between own accounts, an NFT
 * (rules B2, B3, B8a).
 */
export const silentAction: fc.Arbitrary<StoryAction> = fc.oneof(
  amount.map(
    (a): StoryAction =>
      (story) =>
        story.transferSol('w', `w ${WSOL}`, a).syncNative(`w ${WSOL}`),
  ),
  amount.map(
    (a): StoryAction =>
      (story) =>
        story.transferSol('w', TIP, a),
  ),
  fc.tuple(baseMint, amount).map(
    ([m, a]): StoryAction =>
      (story) =>
        story.transfer(`w ${m}`, `w second ${m}`, a),
  ),
  fc.nat(1000).map(
    (n): StoryAction =>
      (story) =>
        story.openToken('w', `temp ${n}`, 'w', WSOL, BigInt(n)).close(`temp ${n}`, 'w'),
  ),
  fc.nat(1000).map(
    (n): StoryAction =>
      (story) =>
        story.createAccount('w', `state ${n}`, RENT),
  ),
  fc.constant<StoryAction>((story) => story.transfer('pool NFT', 'w NFT', 1n)),
)

/** Returns the transaction builder after these actions, in order. */
export function storyOf(actions: readonly StoryAction[]): TransactionStory {
  const story = new TransactionStory('w', 'friend').mint('NFT', { decimals: 0 })
  for (const m of ['COIN', 'OTHER', 'THIRD', WSOL, USDC]) {
    story.token(`w ${m}`, 'w', m, 1_000_000_000n).token(`pool ${m}`, 'pool', m, 1_000_000_000n)
    if (m !== WSOL && m !== USDC) story.token(`w second ${m}`, 'w', m, 0n)
  }
  story.token('w NFT', 'w', 'NFT', 0n).token('pool NFT', 'pool', 'NFT', 5n)
  for (const action of actions) action(story)
  return story
}

/**
 * Any story: swaps, exchanges by an unknown program, transfers, and actions that move nothing of
 * w's.
 */
export const actions = fc.array(
  fc.oneof(swapAction, unknownVenueAction, transferAction, silentAction),
  { maxLength: 8 },
)
