import type { SolanaSignMessageFeature } from '@solana/wallet-standard-features'
import type { Wallet, WalletAccount } from '@wallet-standard/base'
import type {
  StandardConnectFeature,
  StandardDisconnectFeature,
  StandardEventsFeature,
  StandardEventsListeners,
} from '@wallet-standard/features'
import type { UsdtPayer } from './browser-wallets.ts'
import { encodeBase58 } from './test-wallet-base58.ts'
import { loadOrCreateKeys } from './test-wallet-keys.ts'

/*
 * A wallet for trying the dashboard. A page loads it only if the simulator is the source of blocks.
 * It signs with an Ed25519 key of this browser without asking, and pays USDT from the simulator's
 * faucet. It registers itself by the Wallet Standard
 * (https://github.com/wallet-standard/wallet-standard), so a page finds it like any other wallet.
 */

/** A feature of this wallet only: payments with USDT from the simulator's faucet. */
const PAY_USDT = 'tracked-wallets:payUsdt'

type PayUsdtFeature = { readonly [PAY_USDT]: UsdtPayer & { readonly version: '1.0.0' } }

const CHAINS = ['solana:mainnet'] as const
const NAME = 'Test wallet'

/** A square with a T. */
const ICON = `data:image/svg+xml;base64,${btoa(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#7a4b00"/><path d="M8 8h16v4h-6v13h-4V12H8z" fill="#fff"/></svg>',
)}` as const

/** The accounts and keys of the wallet. Without accounts it is not connected. */
class TestWalletState {
  accounts: readonly WalletAccount[] = []
  readonly listeners = new Set<StandardEventsListeners['change']>()
  #keys: CryptoKeyPair | null = null

  async connect(): Promise<void> {
    this.#keys = await loadOrCreateKeys()
    const publicKey = new Uint8Array(await crypto.subtle.exportKey('raw', this.#keys.publicKey))
    const features = ['solana:signMessage', PAY_USDT] as const
    const address = encodeBase58(publicKey)
    this.#setAccounts([{ address, publicKey, chains: CHAINS, features, label: NAME }])
  }

  disconnect(): void {
    this.#keys = null
    this.#setAccounts([])
  }

  privateKeyOf(account: WalletAccount): CryptoKey {
    const isKnown = this.accounts.some(({ address }) => address === account.address)
    if (this.#keys === null || !isKnown) throw new Error('the test wallet is not connected')
    return this.#keys.privateKey
  }

  #setAccounts(accounts: readonly WalletAccount[]): void {
    this.accounts = accounts
    for (const listener of this.listeners) listener({ accounts })
  }
}

/** Creates the wallet, not connected. `rpcUrl` is the simulator's RPC. */
function createTestWallet(rpcUrl: string): Wallet {
  const state = new TestWalletState()
  return {
    version: '1.0.0',
    name: NAME,
    icon: ICON,
    chains: CHAINS,
    features: {
      ...connectionFeatures(state),
      ...signMessageFeature(state),
      ...payUsdtFeature(state, rpcUrl),
    },
    get accounts() {
      return state.accounts
    },
  }
}

function connectionFeatures(
  state: TestWalletState,
): StandardConnectFeature & StandardDisconnectFeature & StandardEventsFeature {
  return {
    'standard:connect': {
      version: '1.0.0',
      async connect({ silent = false } = {}) {
        if (state.accounts.length === 0 && !silent) await state.connect()
        return { accounts: state.accounts }
      },
    },
    'standard:disconnect': {
      version: '1.0.0',
      async disconnect() {
        state.disconnect()
      },
    },
    'standard:events': {
      version: '1.0.0',
      on(_event, listener) {
        state.listeners.add(listener)
        return () => state.listeners.delete(listener)
      },
    },
  }
}

function signMessageFeature(state: TestWalletState): SolanaSignMessageFeature {
  return {
    'solana:signMessage': {
      version: '1.1.0',
      signMessage: (...inputs) =>
        Promise.all(
          inputs.map(async ({ account, message }) => {
            const signed = new Uint8Array(message)
            const privateKey = state.privateKeyOf(account)
            const signature = await crypto.subtle.sign('Ed25519', privateKey, signed)
            return { signedMessage: signed, signature: new Uint8Array(signature) }
          }),
        ),
    },
  }
}

function payUsdtFeature(state: TestWalletState, rpcUrl: string): PayUsdtFeature {
  return {
    [PAY_USDT]: {
      version: '1.0.0',
      async pay({ account, to, rawAmount }) {
        const privateKey = state.privateKeyOf(account)
        const { payUsdt } = await import('./test-wallet-payment.ts')
        const payer = { address: account.address, privateKey }
        return { signature: await payUsdt(rpcUrl, payer, to, rawAmount) }
      },
    },
  }
}

/** The object that a page passes to wallets, so that they register themselves. */
interface WalletRegistrar {
  readonly register: (...wallets: readonly Wallet[]) => unknown
}

/**
 * Registers a wallet with a page that is ready already, and with one that becomes ready later
 * (Wallet Standard, `WindowRegisterWalletEvent`).
 */
function registerWallet(wallet: Wallet): void {
  const callback = ({ register }: WalletRegistrar) => register(wallet)
  window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: callback }))
  window.addEventListener('wallet-standard:app-ready', (event) => {
    callback((event as CustomEvent<WalletRegistrar>).detail) // type of the Wallet Standard
  })
}

const rpc = document.querySelector<HTMLMetaElement>('meta[name=simulator-rpc]')
if (rpc !== null) registerWallet(createTestWallet(rpc.content))
