import { useId, useState } from 'preact/hooks'
import { balanceCame } from '../account/account.ts'
import { creditsText } from '../amounts.ts'
import type { Credited, Plans } from '../answers.ts'
import { ask } from '../ask.ts'
import { Page, Shown } from '../components.tsx'
import { useAsk } from '../use-ask.ts'
import { CheckView } from './check-view.tsx'
import { Payment } from './payment.tsx'
import { topUpAmount } from './top-up-amount.ts'
import { useCheck } from './use-check.ts'

/** Credits for USDT: how many, where to pay, and whether it has come. */
export function TopUpPage() {
  const plans = useAsk<Plans>('/billing/plans')
  return (
    <Page
      title="Top up"
      about="Credits pay for calls of the API and for live trades. They do not expire."
    >
      <Shown asked={plans} what="the prices">
        {(body) => <TopUp plans={body} />}
      </Shown>
    </Page>
  )
}

function TopUp({ plans }: { readonly plans: Plans }) {
  const [text, setText] = useState('10')
  const { units, words } = topUpAmount(text, plans)
  const { check, start, stop } = useCheck(lookForCredits, isCredited)
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
          aria-describedby={`${id}-credits`}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </p>
      <p id={`${id}-credits`} role="status">
        {words}
      </p>
      <Payment
        to={plans.payment_addresses.api_credits}
        units={units}
        plans={plans}
        label="API credits"
        paid={start}
      />
      <section aria-labelledby={`${id}-check`}>
        <h2 id={`${id}-check`}>Have you paid?</h2>
        <CheckView
          check={check}
          start={start}
          stop={stop}
          button="Check for deposits"
          found={({ credited, balance_credits }) => (
            <p>
              <strong>{creditsText(credited)} added.</strong> You have{' '}
              {creditsText(balance_credits)} now. <a href="#/usage">See your top-ups</a>
            </p>
          )}
        />
      </section>
    </>
  )
}

async function lookForCredits() {
  const answered = await ask<Credited>('/billing/credits/check', 'token', { method: 'POST' })
  if (answered.kind === 'answer') balanceCame(answered.body.balance_credits)
  return answered
}

function isCredited({ credited }: Credited): boolean {
  return credited > 0
}
