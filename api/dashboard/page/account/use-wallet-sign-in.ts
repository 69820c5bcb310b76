import type { Wallet, WalletAccount } from '@wallet-standard/base'
import { useState } from 'preact/hooks'
import { connectWallet, useConnectedWallet, walletErrorText } from '../browser-wallets.ts'
import type { ApiFailure } from '../call-api.ts'
import { signIn } from '../sign-in.ts'

/**
 * The steps of a sign-in: connect a wallet, then have it sign. `status` says what the page waits
 * for. `failure` is a text about the wallet, or a failed request.
 */
export function useWalletSignIn() {
  const connected = useConnectedWallet()
  const [accounts, setAccounts] = useState<readonly WalletAccount[]>([])
  const [status, setStatus] = useState('')
  const [failure, setFailure] = useState<string | ApiFailure | null>(null)
  const isWaiting = status !== ''
  return {
    connected,
    accounts,
    isWaiting,
    status,
    failure,
    async connect(wallet: Wallet) {
      if (isWaiting) return
      setFailure(null)
      setStatus(`Waiting for ${wallet.name} to connect…`)
      try {
        setAccounts(await connectWallet(wallet))
      } catch (error) {
        setFailure(`${wallet.name} did not connect: ${walletErrorText(error)}.`)
      }
      setStatus('')
    },
    async signIn() {
      if (connected === null || isWaiting) return
      setFailure(null)
      setStatus(`Waiting for ${connected.wallet.name} to sign…`)
      const result = await signIn(connected)
      if (result.kind === 'ok') return // Another page replaces this one.
      setStatus('')
      setFailure(
        result.kind === 'failed'
          ? result.failure
          : `${connected.wallet.name} did not sign: ${result.reason}.`,
      )
    },
  }
}
