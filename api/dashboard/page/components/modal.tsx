import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

/**
 * A dialog above the page. Its first field has the focus, if it has one. Escape, its button and a
 * click beside it call `close`.
 */
export function Modal(props: {
  readonly title: string
  readonly close: () => void
  readonly children: ComponentChildren
}) {
  const { title, close, children } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    dialog.current?.showModal()
    dialog.current?.querySelector('input')?.focus()
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onClose={close}
      // In a field of a search, the browser's own Escape empties the field first.
      onKeyDown={({ key }) => key === 'Escape' && close()}
      onClick={({ target, currentTarget }) => target === currentTarget && close()}
    >
      <div class="heading">
        <h2 id={id}>{title}</h2>
        <button type="button" class="small" onClick={close}>
          Close
        </button>
      </div>
      {children}
    </dialog>
  )
}
