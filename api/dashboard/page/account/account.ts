import { createAtom, useAtom } from '../atom.ts'
import { type ApiResult, callApi, creditsRemaining } from '../call-api.ts'
import type { AccountResponse } from '../responses.ts'
import { currentSession, setNewApiKey, useSession } from '../session.ts'

const account = createAtom<AccountResponse | null>(null)
let pending: Promise<ApiResult<AccountResponse>> | null = null

/** Returns the account of the session as last loaded, or null before that. */
export function useAccount(): AccountResponse | null {
  const current = useAtom(account)
  const session = useSession()
  return current !== null && current.wallet === session?.wallet ? current : null
}

/**
 * Loads the account. Calls while a request is pending share it.
 * The first response for a wallet is the only one with its API key, so no other code may send this
 * request, and leaving a page must not discard the response.
 */
export function refreshAccount(): Promise<ApiResult<AccountResponse>> {
  pending ??= storeAccount(callApi<AccountResponse>('/me/api')).finally(() => {
    pending = null
  })
  return pending
}

/** Rotates the API key and stores the new one. The previous key is invalid from then on. */
export function replaceApiKey(): Promise<ApiResult<AccountResponse>> {
  return storeAccount(callApi<AccountResponse>('/me/api/rotate', 'token', { method: 'POST' }))
}

/** The credits of an account: those left, and those that feed connections have reserved. */
export function totalCredits({ balance_credits, reserved_credits }: AccountResponse): number {
  return balance_credits + reserved_credits
}

creditsRemaining.subscribe(() => {
  const remaining = creditsRemaining.get()
  const current = account.get()
  if (remaining === null || current === null) return
  // With a feed, what is reserved may have changed too.
  if (current.reserved_credits > 0) void refreshAccount()
  else setBalance(remaining.left)
})

/** Sets the credits left, less those reserved, from another response. */
export function setBalance(credits: number): void {
  const current = account.get()
  if (current !== null) account.set({ ...current, balance_credits: credits })
}

async function storeAccount(
  request: Promise<ApiResult<AccountResponse>>,
): Promise<ApiResult<AccountResponse>> {
  const result = await request
  if (result.kind !== 'ok') return result
  const { body } = result
  if (body.wallet !== currentSession()?.wallet) return result // The session ended meanwhile.
  account.set({ ...body, api_key: null })
  if (body.api_key !== null) setNewApiKey(body.api_key)
  return result
}
