import type { AbuseCase } from './case.ts'
import type { Endpoint } from './wire.ts'

const MOST = 400

/**
 * A shell line that repeats an HTTP case, or the messages of a feed case. Secrets are placeholders
 * in it.
 */
export function reproduce({ act }: Pick<AbuseCase, 'act'>, { host, port }: Endpoint): string {
  if (act.via === 'http') {
    const text = act.pieces.filter((piece) => typeof piece === 'string').join('')
    return `printf '%b' '${shellText(text)}' | nc ${host} ${port}`
  }
  const steps = act.steps.map((step) =>
    'frame' in step
      ? { ...step, frame: { ...step.frame, payload: shellText(step.frame.payload) } }
      : step,
  )
  const said = JSON.stringify(steps)
  return `feed: ${said.length > MOST ? `${said.slice(0, MOST)}... (${said.length} characters)` : said}`
}

function shellText(text: string): string {
  const escaped = text
    .slice(0, MOST)
    .replaceAll('\\', '\\\\')
    .replaceAll('\r', '\\r')
    .replaceAll('\n', '\\n')
    .replace(/[^ -&(-~]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)
  return text.length > MOST ? `${escaped}... (${text.length} bytes)` : escaped
}
