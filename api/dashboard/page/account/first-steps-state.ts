import { createStoredAtom } from '../stored-atom.ts'

/** What the customer did in this browser, of the first steps that the account does not show. */
interface FirstSteps {
  /** A live trade came. */
  readonly sawLiveTrade: boolean
  /** The customer does not want to see the list of steps. */
  readonly isHidden: boolean
}

/** The first steps of this browser. */
export const firstSteps = createStoredAtom<FirstSteps>(
  'first-steps',
  { sawLiveTrade: false, isHidden: false },
  (stored) => {
    if (typeof stored !== 'object' || stored === null) return null
    const is = (name: string) => (stored as Readonly<Record<string, unknown>>)[name] === true
    return { sawLiveTrade: is('sawLiveTrade'), isHidden: is('isHidden') }
  },
)

export function markLiveTrade(): void {
  const steps = firstSteps.get()
  if (!steps.sawLiveTrade) firstSteps.set({ ...steps, sawLiveTrade: true })
}
