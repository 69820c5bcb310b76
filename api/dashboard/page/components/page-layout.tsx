import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** A page: its heading and its content. The heading takes the focus after a navigation. */
export function PageLayout(props: {
  readonly title: string
  /** Buttons beside the heading. */
  readonly actions?: ComponentChildren
  /** A sentence below the heading. */
  readonly about?: ComponentChildren
  readonly children: ComponentChildren
}) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${props.title} · Tracked wallets`
  }, [props.title])
  useEffect(() => {
    // On the first page, a screen reader starts at the top of the document.
    if (PageLayout.isFirst) PageLayout.isFirst = false
    else heading.current?.focus()
  }, [])
  return (
    <>
      <div class="heading">
        <h1 ref={heading} tabIndex={-1}>
          {props.title}
        </h1>
        {props.actions}
      </div>
      {props.about !== undefined && <p class="lead">{props.about}</p>}
      {props.children}
    </>
  )
}
PageLayout.isFirst = true

/** A `ref` that focuses an element when it replaces the element that had the focus. */
export function focusOnMount(element: HTMLElement | null): void {
  element?.focus()
}
