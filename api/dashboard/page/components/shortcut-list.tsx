import { SHORTCUTS, useShortcutSwitch } from '../shortcuts.ts'
import { Modal } from './modal.tsx'

/** The list of keyboard shortcuts, and the checkbox that switches them off. */
export function ShortcutList({ close }: { readonly close: () => void }) {
  const [isOn, set] = useShortcutSwitch()
  return (
    <Modal title="Keyboard shortcuts" close={close}>
      <dl class="legend">
        {SHORTCUTS.map(({ keys, text }) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <label class="choice">
        <input
          type="checkbox"
          checked={isOn}
          onChange={({ currentTarget }) => set(currentTarget.checked)}
        />
        Use keyboard shortcuts
      </label>
    </Modal>
  )
}
