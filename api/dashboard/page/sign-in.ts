import { refreshAccount } from './account/account.ts'
import { type Answered, ask, type Unanswered } from './ask.ts'
import { beginSession, currentSession, endSession, notRevoked } from './session.ts'
import { type Connected, disconnect, signText, walletWords } from './wallets.ts'

export type SignedIn =
  | { readonly kind: 'ok' }
  | { readonly kind: 'not_signed'; readonly words: string }
  | { readonly kind: 'failed'; readonly failure: Unanswered }

/** Signs in with a wallet: a message of the service, signed by the wallet, for a token (Sign-In With Solana, rule E1). */
export async function signIn(connected: Connected): Promise<SignedIn> {
  const wallet = connected.account.address
  const nonce = await ask<{ message: string }>('/auth/nonce', 'none', {
    method: 'POST',
    body: { wallet },
  })
  if (nonce.kind !== 'answer') return { kind: 'failed', failure: nonce }
  let signed: { message: string; signature: string }
  try {
    signed = await signText(connected, nonce.body.message)
  } catch (error) {
    return { kind: 'not_signed', words: walletWords(error) }
  }
  const login = await ask<{ token: string; expires_at: number }>('/auth/login', 'none', {
    method: 'POST',
    body: { wallet, ...signed },
  })
  if (login.kind !== 'answer') return { kind: 'failed', failure: login }
  const { token, expires_at: expiresAt } = login.body
  beginSession({ token, expiresAt, wallet, connected })
  void refreshAccount()
  return { kind: 'ok' }
}

/** Signs out: the token is taken back, the key forgotten, the wallet let go. Where the first fails, the page that asks to sign in says so (`useUnrevoked`); this page has forgotten the token in any case. */
export async function signOut(): Promise<void> {
  const left = currentSession()
  const asked = ask('/auth/logout', 'token', { method: 'POST' })
  endSession('left')
  void disconnect()
  const answered = await asked
  // A token that is refused is not valid any more.
  const isOver =
    answered.kind === 'answer' || (answered.kind === 'refused' && answered.status === 401)
  if (left !== null && !isOver) notRevoked(left)
}

/**
 * Signs out every browser of the wallet: the service revokes every token issued until now. Nothing
 * is forgotten here before the service has answered, so that it can be tried again.
 */
export async function signOutEverywhere(): Promise<Answered<undefined>> {
  const answered = await ask<undefined>('/auth/logout-everywhere', 'token', { method: 'POST' })
  if (answered.kind === 'answer') {
    endSession('left')
    void disconnect()
  }
  return answered
}
