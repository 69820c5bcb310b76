import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { WSOL } from '../domain/quote.ts'
import { example } from '../testing/example-venue.ts'
import { TransactionStory, trackedNames } from '../testing/transaction-story.ts'
import { createDecoder } from './decoder.ts'
import { anchorDiscriminator } from './program.ts'
import { createProgramRegistry, PROGRAMS, REGISTRY } from './registry.ts'

/** The folder of the sources, relative to the compiled test. */
const SOURCES = join(import.meta.dirname, '../../../pipeline')

test('the README shows the example venue exactly as its file has it', (t) => {
  const readme = readFileSync(join(SOURCES, 'decode/README.md'), 'utf8')
  const source = readFileSync(join(SOURCES, 'testing/example-venue.ts'), 'utf8')
  const shown = /```ts\n(import [\s\S]*?)```/.exec(readme)?.[1]
  // In `decode/venues/`, imports have other paths and another order.
  const moved = source
    .replace("'../domain/address.ts'", "'../../domain/address.ts'")
    .replace("'../decode/program.ts'", "'../program.ts'")
  t.deepEqual(shown?.split('\n').sort(), moved.split('\n').sort())
})

test('once a program is in the registry, its swaps are high instead of delta_only', (t) => {
  const story = new TransactionStory('w')
  for (const mint of ['COIN', WSOL]) {
    story.token(`w ${mint}`, 'w', mint, 1_000_000n).token(`pool ${mint}`, 'pool', mint, 1_000_000n)
  }
  story.call(example.id, anchorDiscriminator('swap'), ['w'], () => {
    story.transfer(`w ${WSOL}`, `pool ${WSOL}`, 500n).transfer('pool COIN', 'w COIN', 1000n)
  })
  const swaps = (registry = REGISTRY) => {
    const result = createDecoder(trackedNames('w'), registry).decode(story.build(), 0)
    if (result.kind !== 'decoded') throw new Error('decimals are unknown')
    return result.records.flatMap((record) =>
      record.kind === 'swap' ? { program: record.program, confidence: record.confidence } : [],
    )
  }
  t.deepEqual(swaps(), [{ program: 'unknown', confidence: 'delta_only' }])
  t.deepEqual(swaps(createProgramRegistry([...PROGRAMS, example])), [
    { program: 'example', confidence: 'high' },
  ])
})
