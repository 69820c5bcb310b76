import { type AbuseCase, type AllowedOutcome, type FeedStep, type Frame, utf8 } from '../case.ts'
import { FRAME_CASES } from './bad-frames.ts'

/** The parts of `/asyncapi.json` that the generator reads. */
export interface AsyncApi {
  readonly components: {
    readonly schemas: Readonly<Record<string, MessageSchema>>
    readonly messages: Readonly<
      Record<string, { readonly examples?: readonly { readonly payload: object }[] }>
    >
  }
  readonly operations: {
    readonly receive: { readonly messages: readonly { readonly $ref: string }[] }
  }
}

interface MessageSchema {
  readonly properties?: Readonly<Record<string, unknown>>
}

/**
 * All cases of the feed's AsyncAPI document: hostile values of each field of each message, strings
 * that are not messages, and invalid frames.
 */
export function casesFromAsyncApi(document: AsyncApi): AbuseCase[] {
  const names = document.operations.receive.messages.map(({ $ref }) => $ref.split('/').at(-1) ?? '')
  return [
    ...names.flatMap((name) => {
      const [example] = document.components.messages[name]?.examples ?? []
      const fields = Object.keys(document.components.schemas[name]?.properties ?? {})
      return fields.flatMap((field) => fieldCases(name, field, example?.payload ?? {}))
    }),
    ...TEXTS.map((text) => talk('text', text, [say(text)], { codes: ['invalid_message'] })),
    ...manyCases(),
    ...FRAME_CASES.map(([what, steps, expect]) => talk('frames', what, steps, expect)),
  ]
}

const MINT = 'So11111111111111111111111111111111111111112'
const OTHER_TYPES = [null, true, 0, -1, 1e300, '', 'x', {}, { length: 1 }, [[]], [null], [1], [{}]]
const TEXT_VALUES = ['\0', '💰', 'a'.repeat(3500), '__proto__', "'; DROP TABLE swaps; --", '\ud800']

/** Values of each field, with the codes that may refuse them (rule F2). */
const FIELD_VALUES: Readonly<Record<string, readonly (readonly [unknown, readonly string[]])[]>> = {
  action: [...OTHER_TYPES, [], ...TEXT_VALUES, 'SUBSCRIBE', 'publish'].map((value) => [
    value,
    ['invalid_message'],
  ]),
  channels: [
    ...[...OTHER_TYPES, [], ...TEXT_VALUES, ['x'], ['trades', 'x'], ['TRADES'], 'trades'].map(
      (value) => [value, ['invalid_channel']] as const,
    ),
    [Array.from({ length: 9 }, () => 'trades'), ['invalid_channel']],
    [['watchlist'], ['pro_required']],
    [['trades', 'signals'], ['pro_required']],
  ],
  wallets: [
    ...[...OTHER_TYPES, [], ...TEXT_VALUES].map((value) => [value, ['invalid_parameter']] as const),
    [Array.from({ length: 101 }, (_, n) => `W${n + 1}`), ['invalid_parameter']],
    ...[
      'W0',
      'w1',
      'W01',
      'W1 ',
      '',
      'W999999',
      'W9999999999999999999',
      '💰',
      '__proto__',
      'W１',
    ].map((alias) => [[alias], ['wallet_not_found']] as const),
  ],
  mints: [
    ...[...OTHER_TYPES, [], ...TEXT_VALUES].map((value) => [value, ['invalid_parameter']] as const),
    ...['', 'x', MINT.slice(2), `${MINT}1`, '0'.repeat(44), '💰'].map(
      (mint) => [[mint], ['invalid_parameter']] as const,
    ),
    [Array.from({ length: 101 }, () => '1'), ['invalid_parameter']],
  ],
  after: [
    ...[
      ...OTHER_TYPES,
      [],
      ...TEXT_VALUES,
      'AAAA',
      '{{cursor}}A',
      'A{{cursor}}',
      ['{{cursor}}'],
    ].map((value) => [value, ['invalid_cursor']] as const),
  ],
}

function fieldCases(name: string, field: string, example: object): AbuseCase[] {
  const isIgnored = name === 'Ping' && field !== 'action'
  return (FIELD_VALUES[field] ?? []).map(([value, codes]) => {
    const text = JSON.stringify({ ...example, [field]: value })
    return talk(`${name}.${field}`, JSON.stringify(value), [say(text)], isIgnored ? {} : { codes })
  })
}

/** Strings that are not messages. */
const TEXTS: readonly string[] = [
  ...[
    '',
    ' ',
    '{',
    '}',
    '[]',
    '[[[',
    'null',
    'true',
    '1',
    '"subscribe"',
    '{}',
    "{'action':'ping'}",
  ],
  ...['{"action":"ping"', '{"action":"ping"}}', '{"Action":"ping"}', '{"action":["ping"]}', '\0'],
  ...['\ufeff{"action":"ping"}', '{"__proto__":{"action":"ping"}}', '{"action":"ping","action":1}'],
  ...[
    `${'['.repeat(4000)}`,
    `{"a":`.repeat(800),
    '1e999',
    '-',
    'NaN',
    '💰',
    '/*{"action":"ping"}*/',
  ],
]

/** Floods of messages, and oversized messages. */
function manyCases(): AbuseCase[] {
  const subscribe = '{"action":"subscribe","channels":["trades"],"after":"{{cursor}}"}'
  const long = (length: number) => {
    const head = '{"action":"ping","x":"'
    return `${head}${'a'.repeat(length - head.length - 2)}"}`
  }
  const limited = { codes: ['rate_limited'], closes: [1008] }
  return [
    talk('many', '50 subscribes with after', [{ ...say(subscribe), times: 50 }], {}),
    talk('many', '1000 subscribes with after', [{ ...say(subscribe), times: 1000 }], limited),
    talk('many', '1000 pings', [{ ...say('{"action":"ping"}'), times: 1000 }], limited),
    talk(
      'many',
      '1000 unsubscribes',
      [{ ...say('{"action":"unsubscribe","channels":["trades"]}'), times: 1000 }],
      limited,
    ),
    talk('many', 'three bad messages in a row', [{ ...say('x'), times: 3 }], {
      closes: [1008],
      codes: ['invalid_message'],
    }),
    talk(
      'many',
      'two bad messages, a good one, two bad ones',
      [{ ...say('x'), times: 2 }, say('{"action":"ping"}'), { ...say('x'), times: 2 }],
      { codes: ['invalid_message'] },
    ),
    talk('size', '4096 bytes', [say(long(4096))], {}),
    ...[4097, 5000, 16_384, 65_536, 200_000].map((bytes) =>
      talk('size', `${bytes} bytes`, [say(long(bytes))], {
        closes: [1009],
      }),
    ),
    talk(
      'size',
      '100 wallets and 60 mints',
      [
        say(
          JSON.stringify({
            action: 'subscribe',
            channels: ['trades'],
            wallets: ['W1'],
            mints: Array.from({ length: 60 }, () => MINT),
          }),
        ),
      ],
      {},
    ),
  ]
}

function say(text: string): { readonly frame: Frame } {
  return { frame: { opcode: 1, payload: utf8(text) } }
}

function talk(
  group: string,
  what: string,
  steps: readonly FeedStep[],
  expect: AllowedOutcome,
): AbuseCase {
  return {
    kind: 'feed',
    group: `feed ${group}`,
    title: `feed: ${group}: ${what.length > 60 ? `${what.slice(0, 60)}...` : what}`,
    act: { via: 'feed', steps },
    expect,
    limitMs: 10_000,
  }
}
