import test from 'ava'
import { MarkerCache } from './marker-cache.ts'
import type { StoredSlot } from './state-reader.ts'

function aCache(options: { readonly maxWeight?: number } = {}) {
  const at = { stored: null as StoredSlot | null, made: 0, time: 0 }
  const cache = new MarkerCache<string>(
    { stored: () => at.stored },
    { maxWeight: 100, weigh: (value) => value.length, now: () => at.time, ...options },
  )
  const make = async (stored: StoredSlot | null) => `${++at.made} of ${stored?.slot ?? 'nothing'}`
  return { at, make, get: (key: string) => cache.get(key, make), cache }
}

const slot = (number: number): StoredSlot => ({ slot: number, blockTime: number })

test('a value is cached until the storage marker moves', async (t) => {
  const { at, get } = aCache()
  t.is(await get('a'), '1 of nothing')
  at.stored = slot(5)
  t.deepEqual(await Promise.all([get('a'), get('a'), get('b')]), ['2 of 5', '2 of 5', '3 of 5'])
  t.is(await get('a'), '2 of 5')
  at.stored = slot(6)
  t.deepEqual([await get('a'), await get('b')], ['4 of 6', '5 of 6'])
})

test('while the marker stands still a value is cached for five seconds', async (t) => {
  const { at, get } = aCache()
  at.stored = slot(5)
  t.is(await get('a'), '1 of 5')
  at.time = 4999
  t.is(await get('a'), '1 of 5')
  at.time = 5000
  t.deepEqual([await get('a'), await get('a')], ['2 of 5', '2 of 5'])
})

test('a request after the marker has moved does not wait for an older computation', async (t) => {
  const { at, cache, get } = aCache()
  let finish: (value: string) => void = () => {}
  const before = cache.get('a', () => new Promise<string>((resolve) => (finish = resolve)))
  at.stored = slot(7)
  t.is(await get('a'), '1 of 7')
  finish('old')
  t.is(await before, 'old')
  t.is(await get('a'), '1 of 7')
})

test('a failed computation is repeated', async (t) => {
  const { cache, get } = aCache()
  await t.throwsAsync(cache.get('a', () => Promise.reject(new Error('away'))))
  t.is(await get('a'), '1 of nothing')
})

test('the least recently used values are evicted when the total weight is too large; a value that is too heavy alone is not cached', async (t) => {
  const { cache, get } = aCache({ maxWeight: 25 })
  await get('a')
  await get('b')
  await get('a')
  await get('c') // weight 12 each
  t.deepEqual(
    [await get('a'), await get('c'), await get('b')],
    ['1 of nothing', '3 of nothing', '4 of nothing'],
  )
  await cache.get('d', async () => 'x'.repeat(26))
  t.is(await cache.get('d', async () => 'again'), 'again')
})

test('a computation receives the value of the previous marker, and no older one', async (t) => {
  const { at, cache } = aCache()
  const seen: unknown[] = []
  const get = (key: string) =>
    cache.get(key, async (stored, before) => {
      seen.push(before)
      return `${key} of ${stored?.slot}`
    })
  at.stored = slot(5)
  await get('a')
  at.stored = slot(6)
  await Promise.all([get('a'), get('b')])
  at.stored = slot(7)
  await get('b')
  at.stored = slot(8)
  await Promise.all([get('a'), get('b')])
  t.deepEqual(seen, [undefined, 'a of 5', undefined, 'b of 6', undefined, 'b of 7'])
})
