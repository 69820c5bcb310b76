import type { WalletAccount } from '@wallet-standard/base'
import { type ConnectedWallet, disconnectWallet, selectWalletAccount } from '../browser-wallets.ts'
import { focusOnMount } from '../components/page-layout.tsx'

/** The connected wallet, the choice between its accounts, and the button that signs in. */
export function ConnectedWalletCard(props: {
  readonly connected: ConnectedWallet
  readonly accounts: readonly WalletAccount[]
  readonly isWaiting: boolean
  readonly signIn: () => void
}) {
  const { connected, accounts, isWaiting, signIn } = props
  return (
    <section class="card narrow" aria-labelledby="connected">
      <h2 id="connected" ref={focusOnMount} tabIndex={-1}>
        {connected.wallet.name} is connected
      </h2>
      {accounts.length > 1 ? (
        <AccountChoice connected={connected} accounts={accounts} />
      ) : (
        <p>
          <code class="address">{connected.account.address}</code>
        </p>
      )}
      <p class="actions">
        <button type="button" class="primary" aria-disabled={isWaiting} onClick={signIn}>
          Sign in
        </button>
        <button
          type="button"
          aria-disabled={isWaiting}
          onClick={() => isWaiting || disconnectWallet()}
        >
          Use another wallet
        </button>
      </p>
      <p class="about">Signing the message is free and sends no transaction.</p>
    </section>
  )
}

function AccountChoice(props: {
  readonly connected: ConnectedWallet
  readonly accounts: readonly WalletAccount[]
}) {
  const { connected, accounts } = props
  return (
    <fieldset>
      <legend>Account to sign in with</legend>
      {accounts.map((account) => (
        <label class="choice" key={account.address}>
          <input
            type="radio"
            name="account"
            checked={account.address === connected.account.address}
            onChange={() => selectWalletAccount(connected.wallet, account)}
          />
          <code class="address">{account.address}</code>
        </label>
      ))}
    </fieldset>
  )
}
