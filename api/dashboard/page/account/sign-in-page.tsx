import type { Wallet, WalletAccount } from '@wallet-standard/base'
import { useState } from 'preact/hooks'
import { timeText } from '../amounts.ts'
import type { Unanswered } from '../ask.ts'
import { Failure, focusIt, Page } from '../components.tsx'
import { useSignedOut, useUnrevoked } from '../session.ts'
import { signIn } from '../sign-in.ts'
import {
  chooseAccount,
  connect,
  disconnect,
  useConnected,
  useWallets,
  walletWords,
} from '../wallets.ts'

/** In the place of a page that needs to know whose it is; who has signed in finds that page. */
export function SignInPage() {
  const connected = useConnected()
  const signedOut = useSignedOut()
  const validUntil = useUnrevoked()
  const [accounts, setAccounts] = useState<readonly WalletAccount[]>([])
  const [doing, setDoing] = useState('')
  const [fault, setFault] = useState<string | Unanswered | null>(null)

  const isWaiting = doing !== ''
  const onConnect = async (wallet: Wallet) => {
    if (isWaiting) return
    setFault(null)
    setDoing(`Waiting for ${wallet.name} …`)
    try {
      setAccounts(await connect(wallet))
    } catch (error) {
      setFault(`${wallet.name} did not connect: ${walletWords(error)}.`)
    }
    setDoing('')
  }
  const onSignIn = async () => {
    if (connected === null || isWaiting) return
    setFault(null)
    setDoing(`Waiting for ${connected.wallet.name} to sign …`)
    const outcome = await signIn(connected)
    if (outcome.kind === 'ok') return // another page is here now
    setDoing('')
    setFault(
      outcome.kind === 'failed'
        ? outcome.failure
        : `${connected.wallet.name} did not sign: ${outcome.words}.`,
    )
  }
  return (
    <Page title="Sign in" about="Your wallet is your account: connect it and sign one message.">
      {signedOut === 'expired' && (
        <p class="notice">Your sign-in has expired. Sign in again to go on where you were.</p>
      )}
      {validUntil !== null && (
        <p class="notice" role="alert">
          You are signed out here, but the service did not confirm it: the token of your last
          sign-in may stay valid until {timeText(validUntil)}. This page has forgotten it.
        </p>
      )}
      {connected === null ? (
        <WalletList isWaiting={isWaiting} choose={onConnect} />
      ) : (
        <section class="card narrow" aria-labelledby="connected">
          <h2 id="connected" ref={focusIt} tabIndex={-1}>
            {connected.wallet.name} is connected
          </h2>
          {accounts.length > 1 ? (
            <fieldset>
              <legend>Account to sign in with</legend>
              {accounts.map((account) => (
                <label class="choice" key={account.address}>
                  <input
                    type="radio"
                    name="account"
                    checked={account.address === connected.account.address}
                    onChange={() => chooseAccount(connected.wallet, account)}
                  />
                  <code class="address">{account.address}</code>
                </label>
              ))}
            </fieldset>
          ) : (
            <p>
              <code class="address">{connected.account.address}</code>
            </p>
          )}
          <p class="actions">
            <button type="button" class="primary" aria-disabled={isWaiting} onClick={onSignIn}>
              Sign in
            </button>
            <button
              type="button"
              aria-disabled={isWaiting}
              onClick={() => isWaiting || disconnect()}
            >
              Use another wallet
            </button>
          </p>
          <p class="about">The message moves nothing and costs nothing: no transaction is sent.</p>
        </section>
      )}
      <p role="status">{doing}</p>
      {typeof fault === 'string' && (
        <p class="failure" role="alert">
          {fault}
        </p>
      )}
      {fault !== null && typeof fault !== 'string' && <Failure failure={fault} again={onSignIn} />}
      <p class="about">
        Your sign-in lasts 12 hours and is kept in the memory of this page alone, so that nothing
        which can be stolen is left behind in the browser. After a reload you sign in again.
      </p>
    </Page>
  )
}

function WalletList(props: {
  readonly isWaiting: boolean
  readonly choose: (wallet: Wallet) => void
}) {
  const wallets = useWallets()
  const { isWaiting, choose } = props
  if (wallets.length === 0)
    return (
      <section class="empty" aria-labelledby="no-wallet">
        <h2 id="no-wallet">No wallet found</h2>
        <p>
          This browser has no Solana wallet that we can see. Add one as an extension, for example
          Phantom, Solflare or Backpack, then reload this page. On a phone, open this page in the
          browser inside your wallet’s app.
        </p>
      </section>
    )
  return (
    <section class="card narrow" aria-labelledby="wallets">
      <h2 id="wallets">Choose a wallet</h2>
      <ul class="wallets">
        {wallets.map((wallet) => (
          <li key={wallet.name}>
            <button type="button" aria-disabled={isWaiting} onClick={() => choose(wallet)}>
              <img src={iconOf(wallet)} alt="" width={24} height={24} />
              Connect {wallet.name}
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The standard asks wallets for a picture within its address; any other would be asked for elsewhere, which our policy refuses. */
function iconOf({ icon }: Wallet): string {
  return icon.startsWith('data:image/') ? icon : '/dashboard/icon.svg'
}
