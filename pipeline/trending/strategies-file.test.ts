import { readFileSync } from 'node:fs'
import test from 'ava'
import { ServiceError } from '../domain/service-error.ts'
import { parseStrategies, SHIPPED_STRATEGIES } from './strategies-file.ts'
import { STRATEGY_FIELDS } from './strategy-fields.ts'

/** The error for a file; null when it is accepted. */
function refusal(text: string): string | null {
  try {
    parseStrategies(text, 's.json')
    return null
  } catch (error) {
    return error instanceof ServiceError ? `${error.code}: ${error.message}` : `thrown: ${error}`
  }
}

test('a file of strategies is JSON with comments (rule G5)', (t) => {
  const text = `{
    // what people buy
    "strategies": [
      { "name": "a", "description": "Three hold.", "conditions": [
        { "field": "wallets_holding", "op": ">=", "value": 3 }, /* and */
        { "field": "state", "op": "!=", "value": "distributing" },
        { "field": "near_evict", "op": "=", "value": false }
      ] }
    ]
  }`
  t.deepEqual(parseStrategies(text, 's.json'), [
    {
      name: 'a',
      description: 'Three hold.',
      conditions: [
        { field: 'wallets_holding', op: '>=', threshold: 3 },
        { field: 'state', op: '!=', threshold: 'distributing' },
        { field: 'near_evict', op: '=', threshold: false },
      ],
    },
  ])
  t.deepEqual(parseStrategies('{"strategies": []}', 's.json'), [])
})

const conditions = (...lines: string[]) =>
  `{"strategies": [{"name": "x", "description": "d", "conditions": [\n${lines.join(',\n')}\n]}]}`

const BAD: readonly [string, string, readonly string[]][] = [
  ['invalid JSON', '{"strategies": [', ['line 1:17: invalid JSON: close bracket expected']],
  [
    'two slips',
    '{\n"strategies": [,],\n}',
    ['line 2:16: invalid JSON: value expected', 'line 3:1: invalid JSON: property name expected'],
  ],
  ['empty', '', ['line 1:1: invalid JSON: value expected']],
  ['a list', '[]', ['line 1:1: expected an object of strategies']],
  ['no strategies', '{}', ['line 1:1: missing member strategies']],
  [
    'strategies no list',
    '{"strategies": 1}',
    ['line 1:16, strategies: expected a list of 0 to 100 strategies'],
  ],
  [
    'members that lack and are strange',
    '{"strategies": [\n{"name": "x", "conditons": []}]}',
    [
      'line 2:15, strategies[0]: unknown member "conditons"',
      'line 2:1, strategies[0]: missing member description',
      'line 2:1, strategies[0]: missing member conditions',
    ],
  ],
  [
    'a bad name, no sentence, no conditions',
    '{"strategies": [{"name": "Big One", "description": " ", "conditions": []}]}',
    [
      'line 1:26, strategies[0].name: expected 1 to 64 letters a to z, digits and _, for example early_accumulation',
      'line 1:52, strategies[0], description: expected a sentence of at most 300 characters',
      'line 1:71, strategies[0], conditions: expected a list of 1 to 32 conditions',
    ],
  ],
  [
    'a name twice',
    '{"strategies": [\n{"name": "x", "description": "d", "conditions": [{"field": "multiple", "op": ">", "value": 1}]},\n{"name": "x", "description": "d", "conditions": [{"field": "multiple", "op": ">", "value": 2}]}]}',
    ['line 3:10, strategy x, name: same name as in line 2'],
  ],
  [
    'fields, ops and values, all reported at once',
    conditions(
      '{"field": "convicton", "op": ">=", "value": 60}',
      '{"field": "momentum.holders", "op": ">=", "value": 60}',
      '{"field": "conviction", "op": "=>", "value": 600}',
      '{"field": "pct_held", "op": ">=", "value": "60"}',
      '{"field": "pct_held", "op": ">=", "value": 60}',
      '{"field": "age_seconds", "op": "<", "value": -1}',
      '{"field": "state", "op": ">", "value": "growing"}',
      '{"field": "momentum.mcap.trend", "op": "=", "value": "Up"}',
      '{"field": "near_evict", "op": "=", "value": "true"}',
      '{"field": "multiple", "op": ">", "value": null}',
      '{"field": "multiple", "op": ">", "op": "<"}',
    ),
    [
      'line 2:11, strategy x, conditions[0].field: the watchlist has no field "convicton"; did you mean conviction?',
      `line 3:11, strategy x, conditions[1].field: the watchlist has no field "momentum.holders"; it has ${[...STRATEGY_FIELDS.keys()].join(', ')}`,
      'line 4:31, strategy x, conditions[2] (conviction).op: expected one of >= > <= < = !=',
      'line 4:46, strategy x, conditions[2] (conviction).value: expected a number from 0 to 100',
      'line 5:44, strategy x, conditions[3] (pct_held).value: expected a number from 0 to 1',
      'line 6:44, strategy x, conditions[4] (pct_held).value: expected a number from 0 to 1',
      'line 7:46, strategy x, conditions[5] (age_seconds).value: expected a number of at least 0',
      'line 8:26, strategy x, conditions[6] (state).op: expected one of = !=',
      'line 8:40, strategy x, conditions[6] (state).value: expected one of "discovered", "accumulating", "distributing", "holding"',
      'line 9:54, strategy x, conditions[7] (momentum.mcap.trend).value: expected one of "up", "down", "flat"',
      'line 10:45, strategy x, conditions[8] (near_evict).value: expected true or false',
      'line 11:43, strategy x, conditions[9] (multiple).value: expected a number of at least 0',
      'line 12:34, strategy x, conditions[10]: duplicate member op',
      'line 12:1, strategy x, conditions[10]: missing member value',
    ],
  ],
]

for (const [what, text, lines] of BAD)
  test(`a file is refused with every fault and its position: ${what}`, (t) => {
    const count = lines.length === 1 ? '1 fault' : `${lines.length} faults`
    t.is(
      refusal(text),
      `bad_strategies_file: STRATEGIES_FILE: ${count} in s.json:\n${lines.map((line) => `  ${line}`).join('\n')}`,
    )
  })

test('faults beyond fifty are counted, and a file too long is not read', (t) => {
  const many = conditions(...Array.from({ length: 32 }, () => '{"field": 1, "op": 1, "value": 1}'))
  t.regex(refusal(many) ?? '', /: 64 faults in s\.json:(\n {2}line .*){50}\n {2}and 14 more$/)
  t.regex(refusal(' '.repeat(1_000_001)) ?? '', /is longer than 1000000 characters$/)
})

test('the shipped strategies are valid', (t) => {
  const shipped = parseStrategies(readFileSync(SHIPPED_STRATEGIES, 'utf8'), SHIPPED_STRATEGIES)
  t.deepEqual(
    shipped.map(({ name }) => name),
    [
      'early_accumulation',
      'fresh_co_discovery',
      'conviction_surge',
      'breakout',
      'held_through_dip',
      'distribution_warning',
      'smart_money_exit',
    ],
  )
})
