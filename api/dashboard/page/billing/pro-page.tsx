import { useCallback, useId, useState } from 'preact/hooks'
import { formatLongDuration, formatUnits, formatUtcTime, unitsFromNumber } from '../amounts.ts'
import { callApi } from '../call-api.ts'
import { PageLayout } from '../components/page-layout.tsx'
import { QueryView } from '../components/query-view.tsx'
import type { PlanItem, PlansResponse, ProCheckResponse } from '../responses.ts'
import { useApi } from '../use-api.ts'
import { DepositCheckView } from './deposit-check-view.tsx'
import { PaymentInstructions } from './payment-instructions.tsx'
import { useDepositCheck } from './use-deposit-check.ts'

/** The state of the Pro subscription, and how to buy or extend it. */
export function ProPage() {
  // One request returns the state and redeems payments.
  const status = useApi<ProCheckResponse>('/billing/pro/check', 'POST')
  const plans = useApi<PlansResponse>('/billing/plans')
  const [bought, setBought] = useState<ProCheckResponse | null>(null)
  return (
    <PageLayout
      title="Pro"
      about="A Pro subscription gives you trending tokens and signals, here and over the WebSocket."
    >
      <section aria-labelledby="pro-status">
        <h2 id="pro-status">Your subscription</h2>
        <QueryView query={status} what="your subscription">
          {(body) => <Subscription status={bought ?? body} />}
        </QueryView>
      </section>
      <QueryView query={plans} what="the plans">
        {(body) => (
          <BuyPro
            plans={body}
            expiresAt={
              (bought ?? (status.state === 'loaded' ? status.body : null))?.expires_at ?? 0
            }
            bought={setBought}
          />
        )}
      </QueryView>
    </PageLayout>
  )
}

function Subscription({ status }: { readonly status: ProCheckResponse }) {
  const { active, plan, expires_at, seconds_left } = status
  if (!active || expires_at === null) return <p>You do not have a Pro subscription.</p>
  return (
    <dl class="figures">
      <div>
        <dt>Plan</dt>
        <dd>{plan}</dd>
      </div>
      <div>
        <dt>Active until</dt>
        <dd>{formatUtcTime(expires_at)}</dd>
      </div>
      <div>
        <dt>Time left</dt>
        <dd>{formatLongDuration(seconds_left)}</dd>
      </div>
    </dl>
  )
}

function BuyPro(props: {
  readonly plans: PlansResponse
  /** End of the current subscription, unix seconds. 0 without one. */
  readonly expiresAt: number
  /** Called with the response in which the payment was found. */
  readonly bought: (status: ProCheckResponse) => void
}) {
  const { plans, expiresAt, bought } = props
  const [selected, setSelected] = useState<PlanItem | undefined>(plans.plans[0])
  const { check, start, stop } = useProCheck(expiresAt, bought)
  const id = useId()
  if (selected === undefined) return null
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{expiresAt > 0 ? 'Extend Pro' : 'Get Pro'}</h2>
      <PlanChoice plans={plans} selected={selected} select={setSelected} />
      <p class="notice">
        Pay exactly this amount, to the last digit: the amount identifies the plan. If you have Pro
        already, the days are added to the time left.
      </p>
      <PaymentInstructions
        to={plans.payment_addresses.pro_access}
        units={unitsFromNumber(selected.usdt, plans.usdt_decimals)}
        plans={plans}
        label={`Pro ${selected.plan}`}
        paid={start}
      />
      <DepositCheckView
        check={check}
        start={start}
        stop={stop}
        found={(status) => (
          <p>
            <strong>Pro is active</strong>
            {status.expires_at !== null && ` until ${formatUtcTime(status.expires_at)}`}.{' '}
            <a href="#/trending">See trending tokens</a>
          </p>
        )}
      />
    </section>
  )
}

/** Checks for a payment that makes the subscription end later than `expiresAt`. */
function useProCheck(expiresAt: number, bought: (status: ProCheckResponse) => void) {
  const isFound = useCallback(
    (status: ProCheckResponse) => status.active && (status.expires_at ?? 0) > expiresAt,
    [expiresAt],
  )
  const request = useCallback(async () => {
    const result = await callApi<ProCheckResponse>('/billing/pro/check', 'token', {
      method: 'POST',
    })
    if (result.kind === 'ok' && isFound(result.body)) bought(result.body)
    return result
  }, [isFound, bought])
  return useDepositCheck(request, isFound)
}

function PlanChoice(props: {
  readonly plans: PlansResponse
  readonly selected: PlanItem
  readonly select: (plan: PlanItem) => void
}) {
  const { plans, selected, select } = props
  return (
    <fieldset>
      <legend>Plan</legend>
      {plans.plans.map((plan) => (
        <label class="choice" key={plan.plan}>
          <input
            type="radio"
            name="plan"
            checked={plan === selected}
            onChange={() => select(plan)}
          />
          {plan.plan}: {plan.days} days for {priceText(plan, plans)} USDT
        </label>
      ))}
    </fieldset>
  )
}

/** Formats the price of a plan with the exact digits to pay. */
function priceText({ usdt }: PlanItem, { usdt_decimals: decimals }: PlansResponse): string {
  const units = unitsFromNumber(usdt, decimals)
  return units === null ? String(usdt) : formatUnits(units, decimals)
}
