import test from 'ava'
import { renderAnswer } from './rendered-answer.ts'
import type { StoredSlot } from './state-reader.ts'

const at = (slot: number): StoredSlot => ({ slot, blockTime: slot })
const body = (text: string) => ({ body: { text: text.repeat(2000) } })

test('a response equal to that of the previous marker keeps its bytes and their encodings, with a new ETag (rule D8)', async (t) => {
  const before = renderAnswer(body('a'), at(5))
  const compressed = await before.encoded('br')
  const after = renderAnswer(body('a'), at(6), before)
  t.is(after.bytes, before.bytes)
  t.is(await after.encoded('br'), compressed)
  t.not(after.etag, before.etag)
  t.deepEqual(after.etag, renderAnswer(body('a'), at(6)).etag)
})

test('a response that differs from the previous marker is rendered anew', async (t) => {
  const before = renderAnswer(body('a'), at(5))
  await before.encoded('gzip')
  const after = renderAnswer({ ...body('b'), status: 201 }, at(5), before)
  const alone = renderAnswer({ ...body('b'), status: 201 }, at(5))
  t.deepEqual(after.bytes, alone.bytes)
  t.deepEqual(await after.encoded('gzip'), await alone.encoded('gzip'))
  t.deepEqual([after.status, after.etag], [201, alone.etag])
  t.not(after.etag, before.etag)
})
