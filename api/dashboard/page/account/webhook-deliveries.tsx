import { useId, useState } from 'preact/hooks'
import { FailureNotice } from '../components/failure-notice.tsx'
import { EmptyNotice, QueryView } from '../components/query-view.tsx'
import { ScrollTable } from '../components/scroll-table.tsx'
import { LocalTime } from '../data/formatted.tsx'
import type { DeliveriesResponse, DeliveryEntry, WebhookEntry } from '../responses.ts'
import type { ApiQuery } from '../use-api.ts'
import { useWebhookAction } from './webhook-status.tsx'
import { cursorAfter, outcomeText } from './webhook-text.ts'

/** The newest deliveries of a webhook, and the form that replays the feed after one of them. */
export function WebhookDeliveries(props: {
  readonly hook: WebhookEntry
  readonly deliveries: ApiQuery<DeliveriesResponse>
  readonly reload: () => void
}) {
  const { hook, deliveries, reload } = props
  const [cursor, setCursor] = useState('')
  const fieldId = useId()
  const choose = (chosen: string) => {
    setCursor(chosen)
    document.getElementById(fieldId)?.focus()
  }
  return (
    <>
      <section aria-labelledby="deliveries">
        <h2 id="deliveries">Deliveries</h2>
        <QueryView query={deliveries} what="the deliveries">
          {({ items }) =>
            items.length === 0 ? (
              <EmptyNotice>Nothing was delivered in the last 7 days.</EmptyNotice>
            ) : (
              <ScrollTable
                caption="Newest deliveries of the last 7 days, newest first"
                head={HEAD}
                numericColumns={[2, 3, 5]}
                rows={items.map((delivery) => deliveryCells(delivery, choose))}
              />
            )
          }
        </QueryView>
      </section>
      <Replay hook={hook} cursor={cursor} setCursor={setCursor} fieldId={fieldId} done={reload} />
    </>
  )
}

const HEAD = ['Time', 'Kind', 'Messages', 'Attempt', 'Outcome', 'Latency', 'Replay']

function deliveryCells(delivery: DeliveryEntry, choose: (cursor: string) => void) {
  const cursor = cursorAfter(delivery)
  return [
    <LocalTime key="at" unix={delivery.at} />,
    delivery.kind === 'test' ? 'Test' : 'Messages',
    delivery.messages,
    delivery.attempt,
    <span key="outcome" class={delivery.failure === null ? 'is-good' : 'is-bad'}>
      {outcomeText(delivery)}
    </span>,
    `${delivery.latency_ms} ms`,
    cursor !== null && (
      <button key="replay" type="button" class="small" onClick={() => choose(cursor)}>
        What came after
      </button>
    ),
  ]
}

const WAITING = 'when the webhook delivers again'

function Replay(props: {
  readonly hook: WebhookEntry
  readonly cursor: string
  readonly setCursor: (cursor: string) => void
  readonly fieldId: string
  readonly done: () => void
}) {
  const { hook, cursor, setCursor, fieldId, done } = props
  const [isAsked, setIsAsked] = useState(false)
  const { failure, run } = useWebhookAction(hook, done)
  const replay = async () => {
    setIsAsked(false)
    const failed = await run('/replay', { method: 'POST', body: { cursor: cursor.trim() } })
    setIsAsked(failed === null)
  }
  return (
    <section aria-labelledby="replay">
      <h2 id="replay">Replay</h2>
      <p class="about">
        Delivers again what came after a position: the <code>id</code> of a message, or one chosen
        in the list of deliveries. Trades that this webhook has paid for are free, others cost 1
        credit.
      </p>
      <form
        class="inline-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (cursor.trim() !== '') void replay()
        }}
      >
        <label for={fieldId}>Replay what came after</label>
        <input
          id={fieldId}
          type="text"
          autoComplete="off"
          spellcheck={false}
          value={cursor}
          onInput={(event) => {
            setIsAsked(false)
            setCursor(event.currentTarget.value)
          }}
        />
        <button type="submit">Replay</button>
        <span class="about" role="status">
          {isAsked &&
            `The replay begins ${hook.status === 'active' ? 'within two seconds' : WAITING}.`}
        </span>
      </form>
      {failure !== null && <FailureNotice failure={failure} />}
    </section>
  )
}
