import test from 'ava'
import { ENTRY_BYTES, MintAnswerCache } from './mint-answer-cache.ts'
import { type RenderedAnswer, renderBytes } from './rendered-answer.ts'

function kept(maxBytes = 10 * ENTRY_BYTES) {
  let made = 0
  const answers = new MintAnswerCache(maxBytes)
  const make = async () => renderBytes(Buffer.from(`answer ${++made}`))
  return {
    answers,
    tell: (...mints: string[]) =>
      answers.apply(mints.map((mint) => ({ table: 'positions', row: { mint } }))),
    tellSwap: (base_mint: string) => answers.apply([{ table: 'swaps', row: { base_mint } }]),
    get: async (mint: string, key: string) =>
      String((await answers.get(mint, `${mint} ${key}`, make)).bytes),
  }
}

test('responses about a mint are cached until something of that mint changes', async (t) => {
  const { get, tell, tellSwap } = kept()
  t.deepEqual(await Promise.all([get('a', 'x'), get('a', 'x'), get('b', 'x')]), [
    'answer 1',
    'answer 1',
    'answer 2',
  ])
  t.is(await get('a', 'y'), 'answer 3')
  tell('a', 'unknown')
  t.deepEqual(
    [await get('a', 'x'), await get('a', 'y'), await get('b', 'x')],
    ['answer 4', 'answer 5', 'answer 2'],
  )
  tellSwap('b')
  t.is(await get('b', 'x'), 'answer 6')
})

test('a response is not cached if its mint changed while it was computed, or if the computation failed', async (t) => {
  const { answers, get, tell } = kept()
  let finish: (answer: RenderedAnswer) => void = () => {}
  const before = answers.get('a', 'a x', () => new Promise((resolve) => (finish = resolve)))
  await Promise.resolve()
  tell('a')
  t.is(await get('a', 'x'), 'answer 1')
  finish(renderBytes(Buffer.from('old')))
  t.is(String((await before).bytes), 'old')
  t.is(await get('a', 'x'), 'answer 1')
  await t.throwsAsync(answers.get('b', 'b x', () => Promise.reject(new Error('away'))))
  t.is(await get('b', 'x'), 'answer 2')
})

test('the least recently used responses are evicted when the total size is too large', async (t) => {
  const { get } = kept(2 * (ENTRY_BYTES + 8) + 1) // two answers of 8 bytes
  await get('a', 'x')
  await get('b', 'x')
  await get('a', 'x')
  await get('c', 'x')
  t.deepEqual(
    [await get('a', 'x'), await get('c', 'x'), await get('b', 'x')],
    ['answer 1', 'answer 3', 'answer 4'],
  )
})
