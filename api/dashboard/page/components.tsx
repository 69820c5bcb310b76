import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Unanswered } from './ask.ts'
import type { Asked } from './use-ask.ts'

/** A page: its heading, which takes the focus when somebody comes here from another page, and what is on it. */
export function Page(props: {
  readonly title: string
  /** A sentence below the heading. */
  readonly about?: ComponentChildren
  readonly children: ComponentChildren
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${props.title} · Tracked wallets`
    // Not on the first view: there a reader begins at the top.
    if (Page.isFirst) Page.isFirst = false
    else heading.current?.focus()
  }, [props.title])
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {props.title}
      </h1>
      {props.about !== undefined && <p class="lead">{props.about}</p>}
      {props.children}
    </>
  )
}
Page.isFirst = true

/** For what comes in the place of what was pressed: the focus goes there, else it would be nowhere. */
export function focusIt(element: HTMLElement | null): void {
  element?.focus()
}

/** Something is on its way; `what`: “the wallets”. */
export function Loading({ what }: { readonly what?: string }) {
  return (
    <p class="loading" role="status">
      Loading{what === undefined ? '' : ` ${what}`} …
    </p>
  )
}

/** There is nothing, and that is no fault; says what would be here. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <div class="empty">{children}</div>
}

/** What went wrong, and what to do about it: where credits or Pro are missing it leads there. `price`: credits that trying again costs. */
export function Failure(props: {
  readonly failure: Unanswered
  readonly again?: () => void
  readonly price?: number
}) {
  const { failure, again, price = 0 } = props
  const { title, advice, requestId } = wordsOf(failure)
  return (
    <div class="failure" role="alert">
      <p>
        <strong>{title}</strong> {advice}
      </p>
      {again && (
        <button type="button" onClick={again}>
          Try again{price > 0 && ` (${price} credit${price === 1 ? '' : 's'})`}
        </button>
      )}
      {requestId !== '' && (
        <p class="about">
          Request <code>{requestId}</code>
        </p>
      )}
    </div>
  )
}

function wordsOf(failure: Unanswered) {
  if (failure.kind === 'unreachable')
    return navigator.onLine
      ? {
          title: 'The service does not answer.',
          advice: 'Nothing is lost; try again in a moment.',
          requestId: '',
        }
      : {
          title: 'You are offline.',
          advice: 'Nothing is lost; try again when you are connected.',
          requestId: '',
        }
  const { code, title, requestId } = failure
  return { title: TITLES[code] ?? title, advice: adviceOn(failure), requestId }
}

/** Where what the service says is for programs. */
const TITLES: Readonly<Record<string, string>> = {
  unauthorized: 'This API key is not valid: it was replaced, or is mistyped.',
  rate_limited: 'Too many requests came from your network or your account.',
  unavailable: 'The service cannot answer this just now.',
}

function adviceOn(failure: Extract<Unanswered, { kind: 'refused' }>): ComponentChildren {
  const { code, status, retryAfter } = failure
  if (code === 'insufficient_credits') return <a href="#/top-up">Top up credits</a>
  if (code === 'pro_required') return <a href="#/pro">See the Pro plans</a>
  if (status === 429)
    return `Wait ${retryAfter === null ? 'a minute' : `${retryAfter} s`}, then try again.`
  if (code === 'unauthorized') return <a href="#/account">Go to your account</a>
  return status >= 500 ? 'Nothing was charged; try again in a moment.' : ''
}

/** A question in each of its states; `children` show the answer, below what went wrong since. */
export function Shown<Body>(props: {
  readonly asked: Asked<Body>
  readonly what?: string
  readonly children: (body: Body) => ComponentChildren
}) {
  const { asked, what } = props
  if (asked.state === 'loading') return <Loading {...(what && { what })} />
  if (asked.state === 'failed') return <Failure failure={asked.failure} again={asked.again} />
  return (
    <>
      {asked.failure !== null && <Failure failure={asked.failure} again={asked.again} />}
      {props.children(asked.body)}
    </>
  )
}

/** A table that scrolls within itself on a narrow screen; `head` are the titles of its columns, figures stand at the right. */
export function Table(props: {
  readonly caption: string
  readonly head: readonly string[]
  /** Which columns are figures. */
  readonly figures?: readonly number[]
  readonly rows: readonly (readonly ComponentChildren[])[]
}) {
  const { caption, head, figures = [], rows } = props
  const kind = (column: number) => (figures.includes(column) ? 'is-figure' : '')
  const id = useId()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
    <section class="table" aria-labelledby={id} tabIndex={0}>
      <table>
        <caption id={id}>{caption}</caption>
        <thead>
          <tr>
            {head.map((title, column) => (
              <th key={title} scope="col" class={kind(column)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row}>
              {cells.map((cell, column) => (
                <td key={head[column]} class={kind(column)}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** Copies a text; `what`: “API key”. Says that it did, or shows how to do it by hand. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [said, setSaid] = useState('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('Copied.')
    } catch {
      setSaid('Not copied: mark the text and copy it by hand.')
    }
  }
  return (
    <>
      <button type="button" class="small" onClick={copy}>
        Copy {what}
      </button>
      <span class="about" role="status">
        {said}
      </span>
    </>
  )
}
