import type { FeedNotice } from './feed-notices.ts'

/** Notices of the feed, newest first. Screen readers announce new ones. */
export function NoticeList({ notices }: { notices: readonly FeedNotice[] }) {
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
