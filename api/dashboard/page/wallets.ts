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
import { createCell, useCell } from './cell.ts'

/** A wallet that somebody connected, and the one of its accounts that signs. */
export interface Connected {
  readonly wallet: Wallet
  readonly account: WalletAccount
}

/** What only the simulator's wallet can do: pay USDT by itself. Amounts in raw units. */
export interface PayUsdt {
  pay(payment: {
    readonly account: WalletAccount
    readonly to: string
    readonly rawAmount: bigint
  }): Promise<{ readonly signature: string }>
}

const CONNECT = 'standard:connect'
const DISCONNECT = 'standard:disconnect'
const EVENTS = 'standard:events'
const SIGN_MESSAGE = 'solana:signMessage'
const PAY_USDT = 'tracked-wallets:payUsdt'

const found = createCell<readonly Wallet[]>([])
const connected = createCell<Connected | null>(null)

/** Looks for wallets from now on: those that are there, and those that come later (Wallet Standard). */
export function findWallets(): void {
  const wallets = getWallets()
  const look = () => found.set(wallets.get().filter(canSignIn))
  wallets.on('register', look)
  wallets.on('unregister', look)
  look()
}

/** The browser's wallets that can sign in on Solana. */
export function useWallets(): readonly Wallet[] {
  return useCell(found)
}

/** The wallet that was connected last; it stays so when the sign-in expires. */
export function useConnected(): Connected | null {
  return useCell(connected)
}

/** Asks a wallet for its accounts; rejects with its own words when it does not give them. */
export async function connect(wallet: Wallet): Promise<readonly WalletAccount[]> {
  const feature = wallet.features[CONNECT] as StandardConnectFeature[typeof CONNECT] // `canSignIn`
  const { accounts } = await feature.connect()
  const usable = signers(accounts)
  const [account] = usable
  if (account === undefined) throw new Error('the wallet gave no account that can sign messages')
  connected.set({ wallet, account })
  follow(wallet)
  return usable
}

let unfollow = () => {}

/** Follows a wallet whose owner turns to another of its accounts, or takes them back; who is signed in stays so. */
function follow(wallet: Wallet): void {
  unfollow()
  const feature = wallet.features[EVENTS] as StandardEventsFeature[typeof EVENTS] | undefined // by the standard
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

export function chooseAccount(wallet: Wallet, account: WalletAccount): void {
  connected.set({ wallet, account })
}

/** Lets the wallet go, where it knows how to. */
export async function disconnect(): Promise<void> {
  const was = connected.get()
  unfollow()
  connected.set(null)
  const feature = was?.wallet.features[DISCONNECT] as
    | StandardDisconnectFeature[typeof DISCONNECT]
    | undefined // by the standard
  await feature?.disconnect().catch(() => {}) // it is forgotten here in any case
}

/** Has the wallet sign a text; gives what it signed, which may be more than was asked for, and the signature in base64. Rejects with its own words when it does not sign. */
export async function signText(
  { wallet, account }: Connected,
  text: string,
): Promise<{ message: string; signature: string }> {
  const feature = wallet.features[SIGN_MESSAGE] as SolanaSignMessageFeature[typeof SIGN_MESSAGE] // `canSignIn`
  const sign: SolanaSignMessageMethod = feature.signMessage
  const [output] = await sign({ account, message: new TextEncoder().encode(text) })
  if (output === undefined) throw new Error('the wallet gave no signature')
  return {
    message: new TextDecoder().decode(output.signedMessage),
    signature: btoa(String.fromCharCode(...output.signature)),
  }
}

/** How a wallet pays by itself; null for all but the simulator's. */
export function payUsdtOf({ wallet }: Connected): PayUsdt | null {
  return (wallet.features[PAY_USDT] as PayUsdt | undefined) ?? null // see `PayUsdt`
}

/** What a wallet says when it does not do what it was asked. */
export function walletWords(error: unknown): string {
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
