import { createAtom, useAtom } from './atom.ts'
import type { ConnectedWallet } from './browser-wallets.ts'

/** A sign-in. The token is kept in memory only, so a reload asks to sign in again. */
export interface DashboardSession {
  readonly token: string
  /** Unix seconds. */
  readonly expiresAt: number
  /** Address of the wallet. */
  readonly wallet: string
  /** The wallet in the browser. */
  readonly connected: ConnectedWallet
}

/** Why there is no session: none yet, the token expired, or the customer signed out. */
export type SignOutReason = 'not_yet' | 'expired' | 'signed_out'

const session = createAtom<DashboardSession | null>(null)
const signOutReason = createAtom<SignOutReason>('not_yet')
const unrevokedUntil = createAtom<number | null>(null)
const unsavedApiKey = createAtom<string | null>(null)
const unsavedNamedKey = createAtom<NewNamedKey | null>(null)
const unsavedHookSecret = createAtom<NewHookSecret | null>(null)

/** Returns the session, or null. The component renders again when it changes. */
export function useSession(): DashboardSession | null {
  return useAtom(session)
}

/** Returns the session, or null, outside of components. */
export function currentSession(): DashboardSession | null {
  return session.get()
}

/** Returns why there is no session. */
export function useSignOutReason(): SignOutReason {
  return useAtom(signOutReason)
}

/**
 * Returns the expiry (unix seconds) of a token whose revocation the service did not confirm.
 * Null if the last sign-out was confirmed.
 */
export function useUnrevokedUntil(): number | null {
  return useAtom(unrevokedUntil)
}

/** Records that the service did not confirm the revocation of a session's token. */
export function markUnrevoked({ expiresAt }: DashboardSession): void {
  unrevokedUntil.set(expiresAt)
}

let expiryTimer: ReturnType<typeof setTimeout> | undefined

/** Sets the session. It ends by itself when its token expires. */
export function startSession(started: DashboardSession): void {
  clearTimeout(expiryTimer)
  expiryTimer = setTimeout(() => endSession('expired'), started.expiresAt * 1000 - Date.now())
  session.set(started)
}

/** Forgets the token. Signing out forgets new keys and secrets too; an expired token keeps them. */
export function endSession(reason: SignOutReason): void {
  clearTimeout(expiryTimer)
  signOutReason.set(reason)
  unrevokedUntil.set(null)
  session.set(null)
  if (reason !== 'signed_out') return
  unsavedApiKey.set(null)
  unsavedNamedKey.set(null)
  unsavedHookSecret.set(null)
}

/** Calls `listener` after each start and end of a session; `reason` is that of the last end. */
export function onSessionChange(
  listener: (session: DashboardSession | null, reason: SignOutReason) => void,
): void {
  session.subscribe(() => listener(session.get(), signOutReason.get()))
}

/**
 * Returns a new API key that the customer has not yet confirmed to have saved, and the function
 * that confirms it. No later response contains the key.
 */
export function useUnsavedApiKey(): [key: string | null, confirmSaved: () => void] {
  return [useAtom(unsavedApiKey), () => unsavedApiKey.set(null)]
}

/** A named API key that was just created. */
export interface NewNamedKey {
  readonly name: string
  readonly apiKey: string
}

/** Like `useUnsavedApiKey`, for a new named key. */
export function useUnsavedNamedKey(): [key: NewNamedKey | null, confirmSaved: () => void] {
  return [useAtom(unsavedNamedKey), () => unsavedNamedKey.set(null)]
}

/** Stores a new named key, which the service shows in one response only. */
export function setNewNamedKey(key: NewNamedKey): void {
  unsavedNamedKey.set(key)
}

/** The secret of a webhook that was just created or rotated. */
export interface NewHookSecret {
  /** URL of the webhook. */
  readonly url: string
  readonly secret: string
}

/** Like `useUnsavedApiKey`, for a new secret of a webhook. */
export function useUnsavedHookSecret(): [secret: NewHookSecret | null, confirmSaved: () => void] {
  return [useAtom(unsavedHookSecret), () => unsavedHookSecret.set(null)]
}

/** Stores a new secret of a webhook, which the service shows in one response only. */
export function setNewHookSecret({ url, secret }: NewHookSecret): void {
  unsavedHookSecret.set({ url, secret })
}

/** Whether there is a new key or secret that the customer has not confirmed to have saved. */
export function hasUnsavedSecret(): boolean {
  return [unsavedApiKey, unsavedNamedKey, unsavedHookSecret].some((one) => one.get() !== null)
}

/** Stores a new API key, which the service shows in one response only. */
export function setNewApiKey(key: string): void {
  unsavedApiKey.set(key)
}
