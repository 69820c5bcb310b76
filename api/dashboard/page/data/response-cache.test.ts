import test from 'ava'
import { createResponseCache } from './response-cache.ts'

test('the response cache keeps the newest responses of one API key', (t) => {
  const cache = createResponseCache(2)
  const response = (body: number) => ({ body, receivedAt: 1, creditsRemaining: null })
  cache.useAccount('a')
  for (const n of [1, 2, 3]) cache.set(`/${n}`, response(n))
  t.deepEqual([cache.get('/1'), cache.get('/2'), cache.get('/3')], [null, response(2), response(3)])
  cache.useAccount('b')
  t.is(cache.get('/3'), null)
})
