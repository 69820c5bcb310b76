import { createCell, useCell } from './cell.ts'
import type { Connected } from './wallets.ts'

/** Who is signed in. The token is held here and nowhere else, so that a reload asks to sign in again. */
export interface Session {
  readonly token: string
  /** Unix seconds. */
  readonly expiresAt: number
  /** Address of the wallet. */
  readonly wallet: string
  /** The wallet as the browser knows it. */
  readonly connected: Connected
}

/** Why nobody is signed in. */
export type SignedOut = 'not_yet' | 'expired' | 'left'

const session = createCell<Session | null>(null)
const reason = createCell<SignedOut>('not_yet')
const unrevoked = createCell<number | null>(null)
const apiKey = createCell<string | null>(null)
const unstoredKey = createCell<string | null>(null)

/** Who is signed in; null when nobody is. */
export function useSession(): Session | null {
  return useCell(session)
}

export function currentSession(): Session | null {
  return session.get()
}

export function useSignedOut(): SignedOut {
  return useCell(reason)
}

/** Until when (unix seconds) the token of who has left may be valid still, for the service was not heard to take it back; null when it was. */
export function useUnrevoked(): number | null {
  return useCell(unrevoked)
}

/** The service did not say that it takes back the token of a session that was left. */
export function notRevoked({ expiresAt }: Session): void {
  unrevoked.set(expiresAt)
}

let ending: ReturnType<typeof setTimeout> | undefined

export function beginSession(begun: Session): void {
  clearTimeout(ending)
  ending = setTimeout(() => endSession('expired'), begun.expiresAt * 1000 - Date.now())
  session.set(begun)
}

/** Forgets the token; who leaves takes the key along, who comes back after the token has expired finds it. */
export function endSession(why: SignedOut): void {
  clearTimeout(ending)
  reason.set(why)
  unrevoked.set(null)
  session.set(null)
  if (why !== 'left') return
  apiKey.set(null)
  unstoredKey.set(null)
}

/** The API key that product calls are made with, and how to give another; in memory alone. */
export function useApiKey(): [key: string | null, setKey: (key: string | null) => void] {
  return [useCell(apiKey), apiKey.set]
}

export function currentApiKey(): string | null {
  return apiKey.get()
}

/** A key that was shown just now and that nobody has said to have stored; no later answer shows it. */
export function useUnstoredKey(): [key: string | null, stored: () => void] {
  return [useCell(unstoredKey), () => unstoredKey.set(null)]
}

export function hasUnstoredKey(): boolean {
  return unstoredKey.get() !== null
}

/** Takes a key that an answer shows, this once. */
export function keyCame(key: string): void {
  apiKey.set(key)
  unstoredKey.set(key)
}
