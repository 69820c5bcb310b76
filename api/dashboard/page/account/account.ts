import type { Account } from '../answers.ts'
import { type Answered, ask, creditsLeft } from '../ask.ts'
import { createCell, useCell } from '../cell.ts'
import { currentSession, keyCame, useSession } from '../session.ts'

const account = createCell<Account | null>(null)
let asking: Promise<Answered<Account>> | null = null

/** The account of who is signed in, as it was told last; null until then. */
export function useAccount(): Account | null {
  const known = useCell(account)
  const session = useSession()
  return known !== null && known.wallet === session?.wallet ? known : null
}

/**
 * Asks for the account. The first answer of a wallet shows its key, that once: so it is asked for here alone, one question at a time, and no view that is left takes the
 * answer along.
 */
export function refreshAccount(): Promise<Answered<Account>> {
  asking ??= take(ask<Account>('/me/api')).finally(() => {
    asking = null
  })
  return asking
}

/** A new key in the place of the old one. */
export function rotateKey(): Promise<Answered<Account>> {
  return take(ask<Account>('/me/api/rotate', 'token', { method: 'POST' }))
}

// A key that somebody pasted may be of another account.
creditsLeft.subscribe(() => {
  const told = creditsLeft.get()
  if (told !== null && told.last4 === account.get()?.api_key_last4) balanceCame(told.left)
})

/** What is left, learnt from another answer. */
export function balanceCame(credits: number): void {
  const known = account.get()
  if (known !== null) account.set({ ...known, balance_credits: credits })
}

async function take(answering: Promise<Answered<Account>>): Promise<Answered<Account>> {
  const answered = await answering
  if (answered.kind !== 'answer') return answered
  const { body } = answered
  if (body.wallet !== currentSession()?.wallet) return answered // who asked has left
  account.set({ ...body, api_key: null })
  if (body.api_key !== null) keyCame(body.api_key)
  return answered
}
