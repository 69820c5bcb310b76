import test from 'ava'
import type { AbuseCase } from './case.ts'
import type { HttpAnswer } from './read-answers.ts'
import { judge } from './verdict.ts'
import { type CaseOutcome, NO_OUTCOME } from './wire.ts'

const KEY = 'tw_secret'
const ID = '0198a1b2-0c3d-4e5f-8a9b-0c1d2e3f4a5b'

const refusal = (status: number, code: string, title = 'A sentence.'): HttpAnswer => ({
  status,
  fields: new Map([
    ['x-request-id', ID],
    ['content-type', 'application/problem+json'],
  ]),
  body: JSON.stringify({ type: 'about:blank', title, status, detail: code, code, request_id: ID }),
})
const exchange = (expect: AbuseCase['expect']) =>
  ({ act: { via: 'http', pieces: ['GET / HTTP/1.1'] }, expect, limitMs: 10_000 }) as const
const talk = (expect: AbuseCase['expect']) =>
  ({ act: { via: 'feed', steps: [] }, expect, limitMs: 10_000 }) as const
const verdict = (one: Parameters<typeof judge>[0], seen: Partial<CaseOutcome>) =>
  judge(one, { ...NO_OUTCOME, ...seen }, [KEY])

test('a refusal that follows the contract is not a fault', (t) => {
  const one = exchange({ statuses: [400], codes: ['invalid_parameter'] })
  t.deepEqual(verdict(one, { answers: [refusal(400, 'invalid_parameter')] }), [])
})

test('a 5xx, a hang, a missing response and another status or code are faults', (t) => {
  const one = exchange({ statuses: [400], codes: ['invalid_parameter'] })
  t.deepEqual(
    [
      { answers: [refusal(503, 'unavailable')] },
      { isTimedOut: true },
      {},
      { answers: [refusal(404, 'not_found')] },
      { answers: [refusal(400, 'invalid_cursor')] },
    ].map((seen) => verdict(one, seen)),
    [
      ['503', '503 instead of 400', 'code unavailable instead of invalid_parameter'],
      ['no end within 10 s'],
      ['no answer'],
      ['404 instead of 400', 'code not_found instead of invalid_parameter'],
      ['code invalid_cursor instead of invalid_parameter'],
    ],
  )
})

test('an internal word or a secret in a response is a fault', (t) => {
  const one = exchange({ statuses: [400] })
  const words = ['DB::Exception in ClickHouse', '\n    at read (node:internal/x:1:2)', 'api/app.ts']
  for (const word of words)
    t.deepEqual(verdict(one, { answers: [refusal(400, 'bad_request', word)] }), [
      'something internal in a refusal',
    ])
  t.deepEqual(verdict(one, { answers: [refusal(400, 'bad_request', KEY)] }), [
    'a secret in the answer',
  ])
  t.deepEqual(verdict(talk({}), { ...opened, isAlive: true, text: `{"x":"${KEY}"}` }), [
    'the feed told a secret',
  ])
})

test('a refusal that costs, lacks its fields or is not a problem document is a fault', (t) => {
  const one = exchange({ statuses: [401] })
  const { body } = refusal(401, 'unauthorized')
  t.deepEqual(
    verdict(one, { answers: [{ status: 401, fields: new Map([['x-credits-cost', '1']]), body }] }),
    [
      '401 without X-Request-Id',
      'a refusal that costs credits',
      '401 without WWW-Authenticate',
      '401 that is no problem document',
    ],
  )
})

test('more responses than requests are a fault', (t) => {
  const one = exchange({ statuses: [0, 400], answers: 1 })
  const answers = [refusal(400, 'bad_request'), refusal(400, 'bad_request')]
  t.deepEqual(verdict(one, { answers }), ['2 answers instead of 1'])
  t.deepEqual(verdict(one, {}), [])
})

const opened: Partial<CaseOutcome> = {
  answers: [{ status: 101, fields: new Map(), body: '' }],
}

test('the feed must send the right error and continue, or close with the right code', (t) => {
  const refused = talk({ codes: ['invalid_cursor'] })
  const closed = talk({ closes: [1009] })
  t.deepEqual(verdict(refused, { ...opened, told: ['invalid_cursor', 'pong'], isAlive: true }), [])
  t.deepEqual(verdict(refused, { ...opened, told: ['subscribed', 'pong'], isAlive: true }), [
    'told no error instead of invalid_cursor',
  ])
  t.deepEqual(verdict(talk({}), { ...opened, closeCode: 1011 }), [
    'ended with 1011 instead of going on',
  ])
  t.deepEqual(verdict(closed, { ...opened, closeCode: 1009 }), [])
  t.deepEqual(verdict(closed, opened), ['closed with no code instead of 1009'])
  t.deepEqual(verdict(closed, { answers: [refusal(402, 'insufficient_credits')] }), [
    'the handshake was answered 402',
  ])
})
