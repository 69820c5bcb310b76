import test from 'ava'
import { OMISSIONS, REVERSALS, type Trouble } from '../simulator/options.ts'
import { troubleOf } from './test-bed.ts'

const isOn = (trouble: Trouble, kinds: readonly (keyof Trouble)[]) =>
  kinds.map((kind) => trouble[kind])

test('omissions and reversals are on exactly when the run asks for them', (t) => {
  for (const omits of [true, false])
    for (const hasReversals of [true, false])
      for (const seed of [1, 2, 3]) {
        const trouble = troubleOf({ seed, omits, hasReversals })
        t.deepEqual(isOn(trouble, OMISSIONS), [omits, omits, omits])
        t.deepEqual(isOn(trouble, REVERSALS), [hasReversals, hasReversals])
        t.true(trouble.forks)
      }
})
