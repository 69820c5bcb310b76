import { useCallback, useId, useState } from 'preact/hooks'
import { spanText, timeText, unitsOfNumber, unitsText } from '../amounts.ts'
import type { Plan, Plans, ProStatus } from '../answers.ts'
import { ask } from '../ask.ts'
import { Page, Shown } from '../components.tsx'
import { useAsk } from '../use-ask.ts'
import { CheckView } from './check-view.tsx'
import { Payment } from './payment.tsx'
import { useCheck } from './use-check.ts'

/** Whether there is Pro and until when, and how to get or prolong it. */
export function ProPage() {
  // Asking how it is and redeeming what was paid are one call.
  const status = useAsk<ProStatus>('/billing/pro/check', { method: 'POST' })
  const plans = useAsk<Plans>('/billing/plans')
  return (
    <Page title="Pro" about="Trending tokens, signals, and both live over the socket.">
      <section aria-labelledby="pro-now">
        <h2 id="pro-now">Your subscription</h2>
        <Shown asked={status} what="your subscription">
          {(body) => <Status status={body} />}
        </Shown>
      </section>
      <Shown asked={plans} what="the plans">
        {(body) => (
          <Buy
            plans={body}
            expiresAt={status.state === 'answered' ? (status.body.expires_at ?? 0) : 0}
            bought={status.again}
          />
        )}
      </Shown>
    </Page>
  )
}

function Status({ status }: { readonly status: ProStatus }) {
  const { active, plan, expires_at, seconds_left } = status
  if (!active || expires_at === null) return <p>You have no Pro at present.</p>
  return (
    <dl class="figures">
      <div>
        <dt>Plan</dt>
        <dd>{plan}</dd>
      </div>
      <div>
        <dt>Active until</dt>
        <dd>{timeText(expires_at)}</dd>
      </div>
      <div>
        <dt>Left</dt>
        <dd>{spanText(seconds_left)}</dd>
      </div>
    </dl>
  )
}

function Buy(props: {
  readonly plans: Plans
  /** Of what is known of the subscription; 0 without Pro. */
  readonly expiresAt: number
  readonly bought: () => void
}) {
  const { plans, expiresAt, bought } = props
  const [chosen, setChosen] = useState<Plan | undefined>(plans.plans[0])
  const isFound = useCallback(
    (status: ProStatus) => status.active && (status.expires_at ?? 0) > expiresAt,
    [expiresAt],
  )
  const look = useCallback(async () => {
    const answered = await ask<ProStatus>('/billing/pro/check', 'token', { method: 'POST' })
    if (answered.kind === 'answer' && isFound(answered.body)) bought()
    return answered
  }, [isFound, bought])
  const { check, start, stop } = useCheck(look, isFound)
  const id = useId()
  if (chosen === undefined) return null
  const units = unitsOfNumber(chosen.usdt, plans.usdt_decimals)
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{expiresAt > 0 ? 'Prolong it' : 'Get Pro'}</h2>
      <fieldset>
        <legend>Plan</legend>
        {plans.plans.map((plan) => (
          <label class="choice" key={plan.plan}>
            <input
              type="radio"
              name="plan"
              checked={plan === chosen}
              onChange={() => setChosen(plan)}
            />
            {plan.plan}: {plan.days} days for {priceText(plan, plans)} USDT
          </label>
        ))}
      </fieldset>
      <p class="notice">
        Pay exactly this amount, to the last digit: it is how the plan is told. More days are added
        to those that are left.
      </p>
      <Payment
        to={plans.payment_addresses.pro_access}
        units={units}
        plans={plans}
        label={`Pro ${chosen.plan}`}
        paid={start}
      />
      <CheckView
        check={check}
        start={start}
        stop={stop}
        button="Check for deposits"
        found={(status) => (
          <p>
            <strong>Pro is active</strong>
            {status.expires_at !== null && ` until ${timeText(status.expires_at)}`}.{' '}
            <a href="#/trending">See what is trending</a>
          </p>
        )}
      />
    </section>
  )
}

/** The price as it has to be paid. */
function priceText({ usdt }: Plan, { usdt_decimals: decimals }: Plans): string {
  const units = unitsOfNumber(usdt, decimals)
  return units === null ? String(usdt) : unitsText(units, decimals)
}
