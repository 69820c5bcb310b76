import type {
  SolanaSignMessageFeature,
  SolanaSignMessageMethod,
} from '@solana/wallet-standard-features'
import { getWallets } from '@wallet-standard/app'
import type { Wallet, WalletAccount } from '@wallet-standard/base'
import type {
  StandardConnectFeature,
  StandardDisconnectFeature,
  StandardEventsFeature,
} from '@wallet-standard/features'
import { createAtom, useAtom } from './atom.ts'

/** A connected wallet of the browser, and the account that signs. */
export interface ConnectedWallet {
  readonly wallet: Wallet
  readonly account: WalletAccount
}

/** A feature of the simulator's test wallet only: it pays USDT without asking. */
export interface UsdtPayer {
  pay(payment: {
    readonly account: WalletAccount
    readonly to: string
    /** Raw units of USDT. */
    readonly rawAmount: bigint
  }): Promise<{ readonly signature: string }>
}

const CONNECT = 'standard:connect'
const DISCONNECT = 'standard:disconnect'
const EVENTS = 'standard:events'
const SIGN_MESSAGE = 'solana:signMessage'
const PAY_USDT = 'tracked-wallets:payUsdt'

const available = createAtom<readonly Wallet[]>([])
const connected = createAtom<ConnectedWallet | null>(null)

/** Starts to list the wallets of the browser, now and as they register (Wallet Standard). */
export function watchBrowserWallets(): void {
  const wallets = getWallets()
  const update = () => available.set(wallets.get().filter(canSignIn))
  wallets.on('register', update)
  wallets.on('unregister', update)
  update()
}

/** Returns the wallets of the browser that can sign in on Solana. */
export function useBrowserWallets(): readonly Wallet[] {
  return useAtom(available)
}

/** Returns the connected wallet, or null. It stays connected when the session expires. */
export function useConnectedWallet(): ConnectedWallet | null {
  return useAtom(connected)
}

/** Connects a wallet and returns its accounts that can sign. Rejects with the wallet's error. */
export async function connectWallet(wallet: Wallet): Promise<readonly WalletAccount[]> {
  // `canSignIn` has checked that the wallet has the feature.
  const feature = wallet.features[CONNECT] as StandardConnectFeature[typeof CONNECT]
  const { accounts } = await feature.connect()
  const usable = signers(accounts)
  const [account] = usable
  if (account === undefined) throw new Error('the wallet has no account that can sign messages')
  connected.set({ wallet, account })
  follow(wallet)
  return usable
}

let unfollow = () => {}

/** Follows account changes in a wallet. The session does not change with them. */
function follow(wallet: Wallet): void {
  unfollow()
  // The Wallet Standard defines the type of the feature.
  const feature = wallet.features[EVENTS] as StandardEventsFeature[typeof EVENTS] | undefined
  unfollow =
    feature?.on('change', () => {
      const usable = signers(wallet.accounts)
      const address = connected.get()?.account.address
      const account = usable.find((one) => one.address === address) ?? usable[0]
      connected.set(account === undefined ? null : { wallet, account })
    }) ?? (() => {})
}

function signers(accounts: readonly WalletAccount[]): WalletAccount[] {
  return accounts.filter(({ features }) => features.includes(SIGN_MESSAGE))
}

/** Selects the account of a wallet that signs. */
export function selectWalletAccount(wallet: Wallet, account: WalletAccount): void {
  connected.set({ wallet, account })
}

/** Forgets the connected wallet, and disconnects it if it supports that. */
export async function disconnectWallet(): Promise<void> {
  const previous = connected.get()
  unfollow()
  connected.set(null)
  const feature = previous?.wallet.features[DISCONNECT] as
    | StandardDisconnectFeature[typeof DISCONNECT]
    | undefined // type of the Wallet Standard
  await feature?.disconnect().catch(() => {}) // The page has forgotten the wallet already.
}

/**
 * Asks a wallet to sign a text. Returns the signed message, which the wallet may have extended,
 * and the signature in base64. Rejects with the wallet's error if it does not sign.
 */
export async function signMessageText(
  { wallet, account }: ConnectedWallet,
  text: string,
): Promise<{ message: string; signature: string }> {
  // `canSignIn` has checked that the wallet has the feature.
  const feature = wallet.features[SIGN_MESSAGE] as SolanaSignMessageFeature[typeof SIGN_MESSAGE]
  const sign: SolanaSignMessageMethod = feature.signMessage
  const [output] = await sign({ account, message: new TextEncoder().encode(text) })
  if (output === undefined) throw new Error('the wallet returned no signature')
  return {
    message: new TextDecoder().decode(output.signedMessage),
    signature: btoa(String.fromCharCode(...output.signature)),
  }
}

/** Returns the payment feature of the simulator's test wallet, or null for any other wallet. */
export function usdtPayerOf({ wallet }: ConnectedWallet): UsdtPayer | null {
  return (wallet.features[PAY_USDT] as UsdtPayer | undefined) ?? null // its own feature
}

/** Returns the message of an error that a wallet threw, at most 200 characters. */
export function walletErrorText(error: unknown): string {
  const text = error instanceof Error ? error.message : ''
  return text === '' ? 'it gave no reason' : text.slice(0, 200)
}

function canSignIn({ chains, features }: Wallet): boolean {
  return (
    chains.some((chain) => chain.startsWith('solana:')) &&
    CONNECT in features &&
    SIGN_MESSAGE in features
  )
}
