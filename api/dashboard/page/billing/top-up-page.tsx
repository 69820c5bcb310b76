import { useId, useState } from 'preact/hooks'
import { setBalance } from '../account/account.ts'
import { formatCredits } from '../amounts.ts'
import { callApi } from '../call-api.ts'
import { PageLayout } from '../components/page-layout.tsx'
import { QueryView } from '../components/query-view.tsx'
import type { CreditsCheckResponse, PlansResponse } from '../responses.ts'
import { useApi } from '../use-api.ts'
import { DepositCheckView } from './deposit-check-view.tsx'
import { PaymentInstructions } from './payment-instructions.tsx'
import { parseTopUpAmount } from './top-up-amount.ts'
import { useDepositCheck } from './use-deposit-check.ts'

/** Buys credits for USDT: amount, payment, and the check for the deposit. */
export function TopUpPage() {
  const plans = useApi<PlansResponse>('/billing/plans')
  return (
    <PageLayout
      title="Top up"
      about="Credits pay for API requests and live trades. They do not expire."
    >
      <QueryView query={plans} what="the prices">
        {(body) => <TopUpForm plans={body} />}
      </QueryView>
    </PageLayout>
  )
}

function TopUpForm({ plans }: { readonly plans: PlansResponse }) {
  const [text, setText] = useState('10')
  const { units, message } = parseTopUpAmount(text, plans)
  const { check, start, stop } = useDepositCheck(checkForCredits, isCredited)
  const id = useId()
  return (
    <>
      <p>
        <label for={id}>Amount in USDT</label>
        <input
          id={id}
          type="text"
          inputMode="decimal"
          autoComplete="off"
          value={text}
          aria-invalid={units === null}
          aria-describedby={`${id}-message`}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </p>
      <p id={`${id}-message`} role="status">
        {message}
      </p>
      <PaymentInstructions
        to={plans.payment_addresses.api_credits}
        units={units}
        plans={plans}
        label="API credits"
        paid={start}
      />
      <section aria-labelledby={`${id}-check`}>
        <h2 id={`${id}-check`}>Have you paid?</h2>
        <DepositCheckView
          check={check}
          start={start}
          stop={stop}
          found={({ credited, balance_credits }) => (
            <p>
              <strong>{formatCredits(credited)} added.</strong> Your balance is{' '}
              {formatCredits(balance_credits)}. <a href="#/usage">See your top-ups</a>
            </p>
          )}
        />
      </section>
    </>
  )
}

async function checkForCredits() {
  const result = await callApi<CreditsCheckResponse>('/billing/credits/check', 'token', {
    method: 'POST',
  })
  if (result.kind === 'ok') setBalance(result.body.balance_credits)
  return result
}

function isCredited({ credited }: CreditsCheckResponse): boolean {
  return credited > 0
}
