import test from 'ava'
import { USDC, WSOL } from '../domain/quote.ts'
import { ServiceError } from '../domain/service-error.ts'
import {
  addressOf,
  concatBytes,
  TransactionStory,
  trackedNames,
} from '../testing/transaction-story.ts'
import { createDecoder } from './decoder.ts'
import { LabelTable, parseLabels } from './labels.ts'
import { anchorDiscriminator } from './program.ts'
import { createProgramRegistry, PROGRAMS } from './registry.ts'
import { SHIPPED_LABELS } from './shipped-labels.ts'

const JUPITER = 'JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4'
const PUMPSWAP = 'pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA'
const HADRON = 'HADRoNbLovyqhCsocfYQYB7QdfCAAinN9HTePvBCVDQ8'
const RIPTIDE = 'riptK81hDxhe5pW5jSzSM9iRA8azgEgLJ4dXkPtBS7j'
const INFINITY = '5ocnV1qiCgaQR8Jb8xWnVbApfaygJ8tNoZfgPwsgx9kx'
const ROUTE = anchorDiscriminator('route')
const ANY: Uint8Array = Uint8Array.of(200)

function market(): TransactionStory {
  const story = new TransactionStory('w')
  for (const mint of ['COIN', WSOL, USDC])
    story.token(`w ${mint}`, 'w', mint, 1_000_000n).token(`pool ${mint}`, 'pool', mint, 1_000_000n)
  return story
}

/** A call in which w gives 500 of a quote and gets 1000 COIN. */
function buy(story: TransactionStory, program: string, data = ANY, quote = WSOL): TransactionStory {
  return story.call(program, data, ['w'], () =>
    story.transfer(`w ${quote}`, `pool ${quote}`, 500n).transfer('pool COIN', 'w COIN', 1000n),
  )
}

/** A call in which w gives 500 WSOL and gets 500 USDC. */
function convert(story: TransactionStory, program: string): TransactionStory {
  return story.call(program, ANY, ['w'], () =>
    story.transfer(`w ${WSOL}`, `pool ${WSOL}`, 500n).transfer(`pool ${USDC}`, `w ${USDC}`, 500n),
  )
}

const SHIPPED = new LabelTable(SHIPPED_LABELS)

/** Name, confidence, amounts and program id of the swaps of w. */
function swapsOf(story: TransactionStory, labels = SHIPPED) {
  const registry = createProgramRegistry(PROGRAMS, labels)
  const result = createDecoder(trackedNames('w'), registry).decode(story.build(), 0)
  if (result.kind !== 'decoded') throw new Error('decimals are unknown')
  return result.records.flatMap((record) =>
    record.kind === 'swap'
      ? [
          [
            record.program,
            record.confidence,
            record.baseAmount,
            record.quoteAmount,
            record.programId,
          ],
        ]
      : [],
  )
}

function routed(...hops: readonly ((story: TransactionStory) => void)[]) {
  const story = market()
  return story.call(JUPITER, ROUTE, ['w'], () => {
    for (const hop of hops) hop(story)
  })
}

const namesOf = (story: TransactionStory, labels = SHIPPED) =>
  swapsOf(story, labels).map(([program]) => program)

test('a labelled program that is the only venue of a route names the swap; without its label the router does (B11a)', (t) => {
  const story = routed((route) => buy(route, HADRON))
  t.deepEqual(swapsOf(story), [['hadron', 'high', 1000n, 500n, JUPITER]])
  t.deepEqual(swapsOf(story, new LabelTable([])), [['jupiter', 'high', 1000n, 500n, JUPITER]])
})

test('a route over labelled programs and other venues keeps the name of the router (B11, B11a)', (t) => {
  const hadron = (route: TransactionStory) => buy(route, HADRON)
  const onHadron = (route: TransactionStory) => convert(route, HADRON)
  t.deepEqual(namesOf(routed(onHadron, hadron)), ['hadron'])
  t.deepEqual(namesOf(routed(hadron, (route) => convert(route, RIPTIDE))), ['jupiter'])
  t.deepEqual(namesOf(routed(hadron, (route) => convert(route, 'private venue'))), ['jupiter'])
  const pump = (route: TransactionStory) => buy(route, PUMPSWAP, anchorDiscriminator('buy'))
  t.deepEqual(namesOf(routed(pump, onHadron)), ['jupiter'])
})

test('a labelled program is no venue of a route that it does not trade in, or that calls it through another (B11a)', (t) => {
  const oracle = (route: TransactionStory) => {
    route.call(HADRON, ANY, ['w'])
    buy(route, PUMPSWAP, anchorDiscriminator('buy'))
  }
  t.deepEqual(namesOf(routed(oracle)), ['pumpswap'])
  const through = (route: TransactionStory) => {
    route.call('private venue', ANY, ['w'], () => buy(route, HADRON))
  }
  t.deepEqual(namesOf(routed(through)), ['jupiter'])
})

test('a labelled program with known entry points names a route by its other instructions too (B11a)', (t) => {
  const liquidity = concatBytes([3], new Uint8Array(16))
  t.deepEqual(namesOf(routed((route) => buy(route, INFINITY, liquidity))), ['sanctum_infinity'])
})

test('a delta_only swap bears the label of the first program, in execution order, that moved the base (B10, B11a)', (t) => {
  t.deepEqual(swapsOf(buy(market(), HADRON)), [['hadron', 'delta_only', 1000n, 500n, HADRON]])
  const inner = market()
  inner.call('bot', ANY, ['w'], () => {
    convert(inner, RIPTIDE)
    buy(inner, HADRON, ANY, USDC)
  })
  t.deepEqual(swapsOf(inner), [['hadron', 'delta_only', 1000n, 500n, addressOf('bot')]])
  const paidOut = market()
  paidOut.call('bot', ANY, ['w'], () => {
    paidOut.call(HADRON, ANY, ['w'], () => paidOut.transfer(`w ${WSOL}`, `pool ${WSOL}`, 500n))
    paidOut.transfer('pool COIN', 'w COIN', 1000n)
  })
  t.deepEqual(namesOf(paidOut), ['unknown'])
  t.deepEqual(namesOf(buy(market(), HADRON), new LabelTable([])), ['unknown'])
})

test('replaced labels hold from the next transaction on', (t) => {
  const labels = new LabelTable(SHIPPED_LABELS)
  const decoder = createDecoder(trackedNames('w'), createProgramRegistry(PROGRAMS, labels))
  const tx = buy(market(), HADRON).build()
  const name = () => {
    const result = decoder.decode(tx, 0)
    const [first] = result.kind === 'decoded' ? result.records : []
    return first?.kind === 'swap' ? first.program : null
  }
  t.is(name(), 'hadron')
  labels.replace(parseLabels(`name,program_id\nmine,${HADRON}\n`, 'mine.csv'))
  t.is(name(), 'mine')
})

test('the shipped labels are 57, and one of a program with entry points agrees with its name', (t) => {
  t.is(SHIPPED_LABELS.length, 57)
  const labelled = PROGRAMS.filter(({ id }) =>
    SHIPPED_LABELS.some(({ programId }) => programId === id),
  )
  t.is(labelled.length, 12)
  for (const { id, name } of labelled)
    t.is(SHIPPED_LABELS.find(({ programId }) => programId === id)?.name, name)
})

function refusal(text: string): string | null {
  try {
    parseLabels(text, 'l.csv')
    return null
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return `${error.code}: ${error.message}`
  }
}

test('a file of labels is read with two columns or three, blank lines and line ends of Windows', (t) => {
  const hadron = { name: 'hadron', programId: HADRON, label: null }
  t.deepEqual(parseLabels(`name,program_id\r\n\r\nhadron,${HADRON}\r\n`, 'l.csv'), [
    hadron,
  ] as never)
  t.deepEqual(parseLabels(`name,program_id,label\nhadron, ${HADRON} ,Hadron 2`, 'l.csv'), [
    { ...hadron, label: 'Hadron 2' },
  ] as never)
})

test('a bad file of labels is refused with every fault and its line', (t) => {
  const lines = [
    'name,program_id',
    `Hadron,${HADRON}`,
    'hadron,HADR',
    `unknown,${HADRON}`,
    `hadron,${HADRON},Hadron,x`,
    `hadron,${HADRON}`,
    `again,${HADRON}`,
    'token,TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  ]
  const name = 'name: expected 1 to 64 letters a to z, digits and _, not unknown'
  t.is(
    refusal(lines.join('\n')),
    [
      'bad_labels_file: PROGRAM_LABELS_FILE: 6 faults in l.csv:',
      `  line 2: ${name}`,
      '  line 3: program_id: expected a base58 address of 32 bytes',
      `  line 4: ${name}`,
      '  line 5: more than three fields',
      '  line 7: same program as in line 6',
      '  line 8: program_id: part of the chain, on which nothing is traded',
    ].join('\n'),
  )
})

test('a file of labels without header, without labels or too long is refused', (t) => {
  const begin = 'bad_labels_file: PROGRAM_LABELS_FILE: 1 fault in l.csv:\n  '
  const header = 'line 1: expected name,program_id or name,program_id,label'
  t.is(refusal(''), begin + header)
  t.is(refusal(`hadron,${HADRON}`), begin + header)
  t.is(refusal('name,program_id\n\n'), `${begin}no label`)
  t.is(refusal(' '.repeat(1_000_001)), `${begin}longer than 1000000 characters`)
  const faults = Array.from({ length: 60 }, () => 'x').join('\n')
  t.regex(
    refusal(`name,program_id\n${faults}`) ?? '',
    /: 60 faults in l\.csv:(\n {2}line .*){50}\n {2}and 10 more$/,
  )
})
