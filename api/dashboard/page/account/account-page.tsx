import { useEffect, useState } from 'preact/hooks'
import { formatCredits, formatUtcTime } from '../amounts.ts'
import type { ApiFailure } from '../call-api.ts'
import { FailureNotice } from '../components/failure-notice.tsx'
import { PageLayout } from '../components/page-layout.tsx'
import { LoadingNotice } from '../components/query-view.tsx'
import type { AccountResponse } from '../responses.ts'
import { useSession } from '../session.ts'
import { signOut } from '../sign-in.ts'
import { refreshAccount, totalCredits, useAccount } from './account.ts'
import { ApiKeySection } from './api-key-section.tsx'
import { FirstSteps } from './first-steps.tsx'

/** The account: credits, its own API key, sign-out. */
export function AccountPage() {
  const account = useAccount()
  const { failure, refresh } = useRefreshedAccount()
  return (
    <PageLayout title="Account">
      {failure !== null && <FailureNotice failure={failure} retry={refresh} />}
      {account === null ? (
        failure === null && <LoadingNotice what="your account" />
      ) : (
        <>
          <FirstSteps account={account} />
          <BalanceSection account={account} refresh={refresh} />
          <ApiKeySection account={account} />
        </>
      )}
      <SignOutSection />
    </PageLayout>
  )
}

/** Loads the account when the page opens, and again by `refresh`. */
function useRefreshedAccount() {
  const [failure, setFailure] = useState<ApiFailure | null>(null)
  const [refreshes, setRefreshes] = useState(0)
  useEffect(() => {
    let isMounted = true
    setFailure(null)
    refreshAccount().then((result) => {
      if (isMounted && result.kind !== 'ok') setFailure(result)
    })
    return () => {
      isMounted = false
    }
  }, [refreshes])
  return { failure, refresh: () => setRefreshes((count) => count + 1) }
}

function BalanceSection(props: {
  readonly account: AccountResponse
  readonly refresh: () => void
}) {
  const { account, refresh } = props
  return (
    <>
      <dl class="figures">
        <div>
          <dt>Balance</dt>
          <dd class="large">{formatCredits(totalCredits(account))}</dd>
        </div>
        {account.reserved_credits > 0 && (
          <div>
            <dt>Of these reserved by live feeds</dt>
            <dd>{formatCredits(account.reserved_credits)}</dd>
          </div>
        )}
        <div>
          <dt>Wallet</dt>
          <dd>
            <code class="address">{account.wallet}</code>
          </dd>
        </div>
      </dl>
      <p class="actions">
        <a class="button" href="#/top-up">
          Top up credits
        </a>
        <button type="button" onClick={refresh}>
          Refresh (free)
        </button>
      </p>
      {totalCredits(account) <= 0 && (
        <p class="notice">
          You have no credits, so the API and the live feed refuse your requests.{' '}
          <a href="#/top-up">Top up credits</a>
        </p>
      )}
    </>
  )
}

function SignOutSection() {
  const session = useSession()
  return (
    <section aria-labelledby="sign-out">
      <h2 id="sign-out">Sign out</h2>
      <p class="about">
        {session !== null && `You are signed in until ${formatUtcTime(session.expiresAt)}. `}
        Signing out ends this sign-in. The API key stays valid.
      </p>
      <button type="button" onClick={() => void signOut()}>
        Sign out
      </button>
    </section>
  )
}
