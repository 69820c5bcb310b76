import test from 'ava'
import { openInOrder, type ServicePart } from './open-parts.ts'

/** A part that writes its name to `closed` when it closes. */
function partOf(name: string, closed: string[]): ServicePart {
  return { close: async () => void closed.push(name) }
}

test('parts close in reverse order, once', async (t) => {
  const closed: string[] = []
  const { result, close } = await openInOrder(async (parts) => {
    parts.add(partOf('store', closed))
    parts.add(partOf('api', closed))
    return { result: 7 }
  })
  t.is(result, 7)
  t.deepEqual(closed, [])
  await close()
  await close()
  t.deepEqual(closed, ['api', 'store'])
})

test('a step that fails closes the parts that were opened before it', async (t) => {
  const closed: string[] = []
  const opening = openInOrder(async (parts) => {
    parts.add(partOf('store', closed))
    parts.add(partOf('log', closed))
    throw new Error('the port is taken')
  })
  await t.throwsAsync(opening, { message: 'the port is taken' })
  t.deepEqual(closed, ['log', 'store'])
})

test('conditions of readiness are known as soon as a part is open', async (t) => {
  const names: string[] = []
  const readiness = { add: (checks: object) => void names.push(...Object.keys(checks)) }
  const check = async () => {}
  await openInOrder(async (parts) => {
    parts.add({ ...partOf('store', []), ready: { store: check, schema: check } })
    t.deepEqual(names, ['store', 'schema'])
    parts.add(partOf('source', []))
    return {}
  }, readiness)
  t.deepEqual(names, ['store', 'schema'])
})

test('a part that fails to close leaves no other part open', async (t) => {
  const closed: string[] = []
  const { close } = await openInOrder(async (parts) => {
    parts.add(partOf('store', closed))
    parts.add({ close: () => Promise.reject(new Error('the server went away')) })
    parts.add(partOf('api', closed))
    return {}
  })
  await t.throwsAsync(close(), { message: 'the server went away' })
  t.deepEqual(closed, ['api', 'store'])
})
