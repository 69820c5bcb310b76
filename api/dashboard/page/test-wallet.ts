import type { SolanaSignMessageFeature } from '@solana/wallet-standard-features'
import type { Wallet, WalletAccount } from '@wallet-standard/base'
import type {
  StandardConnectFeature,
  StandardDisconnectFeature,
  StandardEventsFeature,
  StandardEventsListeners,
} from '@wallet-standard/features'
import { encodeBase58 } from './test-wallet-base58.ts'
import { keptKeys } from './test-wallet-keys.ts'
import type { PayUsdt } from './wallets.ts'

/*
 * A wallet for trying the dashboard out: a page loads it with the simulator as source alone. It signs really, with an Ed25519 key that this browser made, without
 * asking anybody, and pays USDT that the simulator's faucet gives for the asking. It makes itself known by the events of the Wallet Standard
 * (https://github.com/wallet-standard/wallet-standard), so that a page finds it as it finds any wallet.
 */

/** The feature of paying, our own: no wallet but this one has it. What is missing comes from the simulator's faucet. */
const PAY_USDT = 'tracked-wallets:payUsdt'

type PayUsdtFeature = { readonly [PAY_USDT]: PayUsdt & { readonly version: '1.0.0' } }

type Features = StandardConnectFeature &
  StandardDisconnectFeature &
  StandardEventsFeature &
  SolanaSignMessageFeature &
  PayUsdtFeature

const CHAINS = ['solana:mainnet'] as const
const NAME = 'Test wallet'

/** A square with a T. */
const ICON = `data:image/svg+xml;base64,${btoa(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#7a4b00"/><path d="M8 8h16v4h-6v13h-4V12H8z" fill="#fff"/></svg>',
)}` as const

/** The wallet, not connected. `rpcUrl`: the simulator's. */
function createTestWallet(rpcUrl: string): Wallet {
  let keys: CryptoKeyPair | null = null
  let accounts: readonly WalletAccount[] = []
  const listeners = new Set<StandardEventsListeners['change']>()

  function become(next: readonly WalletAccount[]): void {
    accounts = next
    for (const listener of listeners) listener({ accounts })
  }

  function keysOf(account: WalletAccount): CryptoKeyPair {
    const known = accounts.some(({ address }) => address === account.address)
    if (keys === null || !known) throw new Error('the test wallet is not connected')
    return keys
  }

  const features: Features = {
    'standard:connect': {
      version: '1.0.0',
      async connect({ silent = false } = {}) {
        if (accounts.length === 0 && !silent) {
          keys = await keptKeys()
          const publicKey = new Uint8Array(await crypto.subtle.exportKey('raw', keys.publicKey))
          const able = ['solana:signMessage', PAY_USDT] as const
          const address = encodeBase58(publicKey)
          become([{ address, publicKey, chains: CHAINS, features: able, label: NAME }])
        }
        return { accounts }
      },
    },
    'standard:disconnect': {
      version: '1.0.0',
      async disconnect() {
        keys = null
        become([])
      },
    },
    'standard:events': {
      version: '1.0.0',
      on(_event, listener) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
    'solana:signMessage': {
      version: '1.1.0',
      signMessage: (...inputs) =>
        Promise.all(
          inputs.map(async ({ account, message }) => {
            const signed = new Uint8Array(message)
            const { privateKey } = keysOf(account)
            const signature = await crypto.subtle.sign('Ed25519', privateKey, signed)
            return { signedMessage: signed, signature: new Uint8Array(signature) }
          }),
        ),
    },
    [PAY_USDT]: {
      version: '1.0.0',
      async pay({ account, to, rawAmount }) {
        const { privateKey } = keysOf(account)
        const { payUsdt } = await import('./test-wallet-payment.ts')
        const payer = { address: account.address, privateKey }
        return { signature: await payUsdt(rpcUrl, payer, to, rawAmount) }
      },
    },
  }

  return {
    version: '1.0.0',
    name: NAME,
    icon: ICON,
    chains: CHAINS,
    features,
    get accounts() {
      return accounts
    },
  }
}

/** What a page hands to wallets that make themselves known. */
interface WalletRegistrar {
  readonly register: (...wallets: readonly Wallet[]) => unknown
}

/** Makes a wallet known to a page that listens already, and to one that begins later (the Wallet Standard, `WindowRegisterWalletEvent`). */
function registerWallet(wallet: Wallet): void {
  const tell = ({ register }: WalletRegistrar) => register(wallet)
  window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: tell }))
  window.addEventListener('wallet-standard:app-ready', (event) => {
    tell((event as CustomEvent<WalletRegistrar>).detail) // as the standard has it
  })
}

const rpc = document.querySelector<HTMLMetaElement>('meta[name=simulator-rpc]')
if (rpc !== null) registerWallet(createTestWallet(rpc.content))
