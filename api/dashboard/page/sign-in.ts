import { refreshAccount } from './account/account.ts'
import {
  type ConnectedWallet,
  disconnectWallet,
  signMessageText,
  walletErrorText,
} from './browser-wallets.ts'
import { type ApiFailure, type ApiResult, callApi } from './call-api.ts'
import { currentSession, endSession, markUnrevoked, startSession } from './session.ts'

/** The result of a sign-in. `not_signed`: the wallet refused; `reason` is its own text. */
export type SignInResult =
  | { readonly kind: 'ok' }
  | { readonly kind: 'not_signed'; readonly reason: string }
  | { readonly kind: 'failed'; readonly failure: ApiFailure }

/** Signs in with a wallet, which signs a message of the service (Sign-In With Solana, rule E1). */
export async function signIn(connected: ConnectedWallet): Promise<SignInResult> {
  const wallet = connected.account.address
  const nonce = await callApi<{ message: string }>('/auth/nonce', 'none', {
    method: 'POST',
    body: { wallet },
  })
  if (nonce.kind !== 'ok') return { kind: 'failed', failure: nonce }
  let signed: { message: string; signature: string }
  try {
    signed = await signMessageText(connected, nonce.body.message)
  } catch (error) {
    return { kind: 'not_signed', reason: walletErrorText(error) }
  }
  const login = await callApi<{ token: string; expires_at: number }>('/auth/login', 'none', {
    method: 'POST',
    body: { wallet, ...signed },
  })
  if (login.kind !== 'ok') return { kind: 'failed', failure: login }
  const { token, expires_at: expiresAt } = login.body
  startSession({ token, expiresAt, wallet, connected })
  void refreshAccount()
  return { kind: 'ok' }
}

/**
 * Signs out: forgets token and API key, disconnects the wallet, and asks the service to revoke
 * the token. If the service does not confirm that, the sign-in page says so.
 */
export async function signOut(): Promise<void> {
  const ended = currentSession()
  const revocation = callApi('/auth/logout', 'token', { method: 'POST' })
  endSession('signed_out')
  void disconnectWallet()
  const result = await revocation
  // A 401 says that the token is invalid already.
  const isRevoked = result.kind === 'ok' || (result.kind === 'refused' && result.status === 401)
  if (ended !== null && !isRevoked) markUnrevoked(ended)
}

/**
 * Signs out every browser of the wallet: the service revokes all tokens issued until now.
 * The session ends only once the service has confirmed it, so a failure can be retried.
 */
export async function signOutEverywhere(): Promise<ApiResult<undefined>> {
  const result = await callApi<undefined>('/auth/logout-everywhere', 'token', { method: 'POST' })
  if (result.kind === 'ok') {
    endSession('signed_out')
    void disconnectWallet()
  }
  return result
}
