import test from 'ava'
import { readModes } from './modes.ts'

test('modes of a bench keep their order, may come again, and are all known', (t) => {
  const known = ['servers', 'cluster'] as const
  const read = ['cluster', 'servers,cluster,servers', 'servers,embedded', ''].map((text) =>
    readModes(text, known),
  )
  t.deepEqual(read, [['cluster'], ['servers', 'cluster', 'servers'], null, null])
})
