import type { Wallet } from '@wallet-standard/base'
import { formatUtcTime } from '../amounts.ts'
import { useBrowserWallets } from '../browser-wallets.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { PageLayout } from '../components/page-layout.tsx'
import { useSignOutReason, useUnrevokedUntil } from '../session.ts'
import { ConnectedWalletCard } from './connected-wallet-card.tsx'
import { useWalletSignIn } from './use-wallet-sign-in.ts'

/** Shown in place of a page that needs a session, until the customer has signed in. */
export function SignInPage() {
  const flow = useWalletSignIn()
  const { connected, accounts, isWaiting, status, failure } = flow
  return (
    <PageLayout title="Sign in" about="Connect your Solana wallet, then sign a message with it.">
      <SignOutNotices />
      {connected === null ? (
        <WalletList isWaiting={isWaiting} connect={flow.connect} />
      ) : (
        <ConnectedWalletCard
          connected={connected}
          accounts={accounts}
          isWaiting={isWaiting}
          signIn={flow.signIn}
        />
      )}
      <p role="status">{status}</p>
      {typeof failure === 'string' && (
        <p class="failure" role="alert">
          {failure}
        </p>
      )}
      {failure !== null && typeof failure !== 'string' && (
        <FailureNotice failure={failure} retry={flow.signIn} />
      )}
      <p class="about">
        You stay signed in for 12 hours, or until you reload the page. The sign-in is kept in the
        memory of this page and is never stored in the browser.
      </p>
    </PageLayout>
  )
}

function SignOutNotices() {
  const reason = useSignOutReason()
  const unrevokedUntil = useUnrevokedUntil()
  return (
    <>
      {reason === 'expired' && (
        <p class="notice">Your sign-in has expired. Sign in again to continue.</p>
      )}
      {unrevokedUntil !== null && (
        <p class="notice" role="alert">
          You are signed out on this page, but the service did not confirm it. Your last sign-in may
          stay valid until {formatUtcTime(unrevokedUntil)}. To end it now, sign in again and sign
          out everywhere.
        </p>
      )}
    </>
  )
}

function WalletList(props: {
  readonly isWaiting: boolean
  readonly connect: (wallet: Wallet) => void
}) {
  const { isWaiting, connect } = props
  const wallets = useBrowserWallets()
  if (wallets.length === 0)
    return (
      <section class="empty" aria-labelledby="no-wallet">
        <h2 id="no-wallet">No wallet found</h2>
        <p>
          This page found no Solana wallet in your browser. Install a wallet extension, for example
          Phantom, Solflare or Backpack, then reload this page. On a phone, open this page in the
          browser of your wallet app.
        </p>
      </section>
    )
  return (
    <section class="card narrow" aria-labelledby="wallets">
      <h2 id="wallets">Choose a wallet</h2>
      <ul class="wallets">
        {wallets.map((wallet) => (
          <li key={wallet.name}>
            <button type="button" aria-disabled={isWaiting} onClick={() => connect(wallet)}>
              <img src={iconOf(wallet)} alt="" width={24} height={24} />
              Connect {wallet.name}
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

/**
 * Returns the icon of a wallet if it is a data URL, as the Wallet Standard requires. The content
 * security policy refuses icons from other hosts.
 */
function iconOf({ icon }: Wallet): string {
  return icon.startsWith('data:image/') ? icon : '/dashboard/icon.svg'
}
