import test from 'ava'
import { encodeFrame, readFrames } from './frames.ts'
import { readAnswers } from './read-answers.ts'

test('responses are read one after the other, with any form of length', (t) => {
  const bytes = Buffer.from(
    [
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: 1\r\n\r\nok',
      'HTTP/1.1 304 Not Modified\r\n\r\n',
      'HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n',
      'HTTP/1.1 200 OK\r\n\r\nto the end',
    ].join(''),
  )
  const read = (isEnded: boolean, length = bytes.length) =>
    readAnswers(bytes.subarray(0, length), false, isEnded).map(({ status, body }) => [status, body])
  const first = [
    [200, 'ok'],
    [304, ''],
    [400, 'no'],
  ]
  t.deepEqual(read(false), first)
  t.deepEqual(read(true), [...first, [200, 'to the end']])
  t.deepEqual(read(false, 60), [])
})

test('frames of every length are read as they were written; an incomplete frame waits', (t) => {
  const payloads = [0, 1, 125, 126, 65_535, 65_536].map((length) => 'x'.repeat(length))
  const bytes = Buffer.concat(
    payloads.map((payload) => encodeFrame({ opcode: 1, payload, isMasked: false })),
  )
  const { frames, rest } = readFrames(bytes.subarray(0, -1))
  t.deepEqual(
    frames.map(({ opcode, payload }) => [opcode, payload.length]),
    [0, 1, 125, 126, 65_535].map((length) => [1, length]),
  )
  t.is(rest.length, 65_536 + 10 - 1)
})

test('a client frame can have every field wrong', (t) => {
  const frame = { opcode: 3, payload: 'a', isFinal: false, reserved: 7, declares: 2 ** 32 }
  t.is(encodeFrame(frame).toString('hex'), '73ff00000001000000000000000061')
})
