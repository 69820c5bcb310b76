import type { WebhooksResponse } from '../responses.ts'
import { useSession } from '../session.ts'
import { useApi } from '../use-api.ts'
import { useReloading } from '../use-reloading.ts'
import { hostOf, needsOwner, webhookStatusText } from './webhook-text.ts'

const RELOAD_SECONDS = 300

/** Tells the owner on every other page which webhooks do not deliver (rule M1). */
export function WebhookNotice() {
  return useSession() === null ? null : <Notice />
}

function Notice() {
  const query = useApi<WebhooksResponse>('/me/webhooks')
  useReloading(query, RELOAD_SECONDS)
  if (query.state !== 'loaded') return null
  const now = Date.now() / 1000
  const [first, ...others] = query.body.items.filter((hook) => needsOwner(hook, now))
  if (first === undefined) return null
  const text =
    others.length > 0
      ? `${others.length + 1} of your webhooks do not deliver.`
      : `Your webhook to ${hostOf(first.url)} does not deliver: ${webhookStatusText(first, now)}.`
  return (
    <p class="notice" role="status">
      {text.replace(/\.\.$/, '.')} <a href="#/webhooks">Go to your webhooks</a>
    </p>
  )
}
