import { useEffect } from 'preact/hooks'
import { useAtom } from './atom.ts'
import { createStoredAtom } from './stored-atom.ts'

/** What a shortcut does: opens a dialog, or the page at a path. */
export type ShortcutAction = 'search' | 'help' | { readonly path: string }

/** A keyboard shortcut: keys that are pressed one after the other. */
export interface Shortcut {
  readonly keys: string
  readonly text: string
  readonly action: ShortcutAction
}

/** All shortcuts, in the order of their list. */
export const SHORTCUTS: readonly Shortcut[] = [
  { keys: '/', text: 'Search', action: 'search' },
  { keys: '?', text: 'List the shortcuts', action: 'help' },
  { keys: 'g w', text: 'Go to wallets', action: { path: '/wallets' } },
  { keys: 'g l', text: 'Go to live trades', action: { path: '/trades' } },
  { keys: 'g t', text: 'Go to trending', action: { path: '/trending' } },
  { keys: 'g s', text: 'Go to signals', action: { path: '/signals' } },
  { keys: 'g f', text: 'Go to favourites', action: { path: '/favourites' } },
  { keys: 'g a', text: 'Go to your account', action: { path: '/account' } },
]

const isOn = createStoredAtom('shortcuts', true, (stored) =>
  typeof stored === 'boolean' ? stored : null,
)

/** Returns whether shortcuts are switched on, and the function that switches them. */
export function useShortcutSwitch(): [isOn: boolean, set: (isOn: boolean) => void] {
  return [useAtom(isOn), isOn.set]
}

/** A key press, and whether it goes into a field. */
export interface KeyPress {
  readonly key: string
  readonly isTyping: boolean
  readonly hasModifier: boolean
}

/**
 * Returns the action of a key press, and the key that a next press continues. `before` is that of
 * the last press, or empty.
 */
export function shortcutOf(
  before: string,
  { key, isTyping, hasModifier }: KeyPress,
): { readonly action: ShortcutAction | null; readonly next: string } {
  if (isTyping || hasModifier) return { action: null, next: '' }
  const keys = before === '' ? key : `${before} ${key}`
  const found = SHORTCUTS.find((shortcut) => shortcut.keys === keys)
  if (found !== undefined) return { action: found.action, next: '' }
  return { action: null, next: SHORTCUTS.some((one) => one.keys.startsWith(`${key} `)) ? key : '' }
}

/** Calls `act` for each shortcut while they are switched on and no dialog is open. */
export function useShortcuts(act: (action: ShortcutAction) => void): void {
  const [enabled] = useShortcutSwitch()
  useEffect(() => {
    if (!enabled) return
    let last = ''
    const press = (event: KeyboardEvent) => {
      const { target, key, ctrlKey, metaKey, altKey } = event
      const isTyping =
        target instanceof HTMLElement && target.closest('input, select, textarea, dialog') !== null
      const hasModifier = ctrlKey || metaKey || altKey
      const { action, next } = shortcutOf(last, { key, isTyping, hasModifier })
      if (key !== 'Shift') last = next
      if (action === null) return
      event.preventDefault()
      act(action)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [enabled, act])
}
