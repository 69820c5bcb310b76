import type { AllowedOutcome, FeedStep, Frame } from '../case.ts'

const PING = '{"action":"ping"}'
const frame = (given: Partial<Frame>): FeedStep => ({
  frame: { opcode: 1, payload: PING, ...given },
})
const broken: AllowedOutcome = { closes: [1002] }
const closing = (code: number, reason = '') =>
  frame({ opcode: 8, payload: String.fromCharCode(code >> 8, code & 255) + reason })

/**
 * Frames that break RFC 6455, or use all that it allows, with the expected end of the conversation.
 */
export const FRAME_CASES: readonly (readonly [
  what: string,
  steps: readonly FeedStep[],
  expect: AllowedOutcome,
])[] = [
  ['not masked', [frame({ isMasked: false })], broken],
  ...[1, 2, 4, 7].map(
    (reserved) => [`reserved bits ${reserved}`, [frame({ reserved })], broken] as const,
  ),
  ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map(
    (opcode) => [`opcode ${opcode}`, [frame({ opcode })], broken] as const,
  ),
  ['continues nothing', [frame({ opcode: 0 })], broken],
  ['a message inside a message', [frame({ isFinal: false, payload: '{' }), frame({})], broken],
  ['a ping in two parts', [frame({ opcode: 9, isFinal: false, payload: 'x' })], broken],
  ['a ping of 126 bytes', [frame({ opcode: 9, payload: 'x'.repeat(126) })], broken],
  ['a close of 126 bytes', [frame({ opcode: 8, payload: `\x03\xe8${'x'.repeat(124)}` })], broken],
  ['a close of one byte', [frame({ opcode: 8, payload: 'x' })], broken],
  ...[0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65_535].map(
    (code) => [`close code ${code}`, [closing(code)], broken] as const,
  ),
  ['a close with bad UTF-8', [closing(1000, '\xff')], { closes: [1007] }],
  ['a close with code 1000', [closing(1000)], { closes: [1000] }],
  ['a close with code 4999', [closing(4999, 'bye')], { closes: [4999] }],
  ['a close without a code', [frame({ opcode: 8, payload: '' })], { closes: [1000, 1005] }],
  ['a message after the close', [closing(1000), frame({}), frame({})], { closes: [1000] }],
  ['text of bad UTF-8', [frame({ payload: '{"action":"\xff"}' })], { closes: [1007] }],
  ['text that ends within a character', [frame({ payload: '{"a":"\xe2\x82' })], { closes: [1007] }],
  ['text of an overlong character', [frame({ payload: '{"a":"\xc0\xaf"}' })], { closes: [1007] }],
  ['text of a surrogate', [frame({ payload: '{"a":"\xed\xa0\x80"}' })], { closes: [1007] }],
  ['binary', [frame({ opcode: 2 })], { codes: ['invalid_message'] }],
  ['empty binary', [frame({ opcode: 2, payload: '' })], { codes: ['invalid_message'] }],
  ['declares 2^31 bytes', [frame({ declares: 2 ** 31 })], { closes: [1009] }],
  ['declares 2^53 - 1 bytes', [frame({ declares: 2 ** 53 - 1 })], { closes: [1009] }],
  ['declares 2^62 bytes', [frame({ declares: 2 ** 62 })], { closes: [1009] }],
  [
    'a message in parts of one byte',
    [...PING].map((byte, at) =>
      frame({ opcode: at === 0 ? 1 : 0, payload: byte, isFinal: at === PING.length - 1 }),
    ),
    {},
  ],
  [
    'pings between the parts of a message',
    [...PING].flatMap((byte, at) => [
      frame({ opcode: at === 0 ? 1 : 0, payload: byte, isFinal: at === PING.length - 1 }),
      frame({ opcode: 9, payload: 'between' }),
    ]),
    {},
  ],
  [
    '20,000 empty parts',
    [
      frame({ isFinal: false, payload: '' }),
      { ...frame({ opcode: 0, isFinal: false, payload: '' }), times: 20_000 },
    ],
    { closes: [1002, 1008, 1009] },
  ],
  [
    'parts that come to more than a message may have',
    [
      frame({ isFinal: false, payload: ' '.repeat(4000) }),
      { ...frame({ opcode: 0, isFinal: false, payload: ' '.repeat(4000) }), times: 100 },
    ],
    { closes: [1008, 1009] },
  ],
  ['50 pings of the protocol', [{ ...frame({ opcode: 9, payload: 'p' }), times: 50 }], {}],
  // The library cuts the connection without a close frame when too many pongs are unsent.
  [
    '5000 pings of the protocol',
    [{ ...frame({ opcode: 9, payload: 'p' }), times: 5000 }],
    { closes: [0, 1008] },
  ],
  ['100 pongs that nobody asked for', [{ ...frame({ opcode: 10, payload: 'p' }), times: 100 }], {}],
  ['bytes of HTTP', [{ bytes: 'GET /trades HTTP/1.1\r\nHost: a\r\n\r\n' }], { closes: [1002] }],
  ['bytes of zero', [{ bytes: '\0'.repeat(1000) }], { closes: [1002] }],
  ['bytes of 255', [{ bytes: '\xff'.repeat(1000) }], { closes: [1002] }],
  ['half closed by the client', [frame({}), { cut: 'end' }], { isCut: true }],
  ['reset by the client', [frame({}), { cut: 'reset' }], { isCut: true }],
  [
    'reset in the middle of a frame',
    [{ bytes: '\x81\xfe\x0f' }, { cut: 'reset' }],
    { isCut: true },
  ],
]
