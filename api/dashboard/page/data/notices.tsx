import type { Words } from './socket-words.ts'

/** What the service said beside data, newest first. */
export function Notices({ notices }: { notices: readonly Words[] }) {
  return (
    <div aria-live="polite">
      {notices.map(({ tone, text }) => (
        <p key={text} class={`notice ${tone}`}>
          {text}
        </p>
      ))}
    </div>
  )
}
