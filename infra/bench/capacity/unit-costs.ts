/** What one event, socket or wallet costs. */
export interface UnitCost {
  readonly stage: 'ingest' | 'Kafka' | 'workers' | 'ClickHouse' | 'API' | 'webhooks' | 'Redis'
  readonly what: string
  readonly value: number
  readonly unit: string
  /** Table and command in `infra/decisions/bench-results.md`; null: assumed, not measured. */
  readonly source: { readonly table: string; readonly command: string } | null
}

const KEPT = { table: 'Kept transactions', command: 'kept' }
const SELECTION = { table: 'Selection of transactions', command: 'select' }
const LINKS = { table: 'Links', command: 'links' }
const FOLD = { table: 'Fold', command: 'fold' }
const SCALE = { table: 'Scale', command: 'scale' }
const QUESTIONS = { table: 'Questions', command: 'questions' }
const API = { table: 'API', command: 'api' }
const FEED = { table: 'Feed', command: 'feed' }
const POSITIONS = { table: 'Start with many open positions', command: 'api start' }
const SOCKETS = { table: 'Sockets', command: 'sockets' }

const CPU_US = 'us of CPU'
const BYTES = 'bytes'

/**
 * All unit costs. Where a section has several figures, it is the one of the largest size, with
 * servers where there is a choice, and of the worst turn. Most were taken on two cores on which a
 * plain loop took four times what it takes on usual hardware.
 */
export const UNIT_COSTS = {
  transactionBytes: {
    stage: 'ingest',
    what: 'a transaction on the stream',
    value: 7021,
    unit: BYTES,
    source: KEPT,
  },
  ingestTransaction: {
    stage: 'ingest',
    what: 'a transaction of a tracked wallet, from the stream to Kafka',
    value: 160,
    unit: CPU_US,
    source: SCALE,
  },
  dropTransaction: {
    stage: 'ingest',
    what: 'a transaction of another wallet, when the whole stream is read',
    value: 4.5,
    unit: CPU_US,
    source: SELECTION,
  },
  logEvent: {
    stage: 'Kafka',
    what: 'an event with its balances, links and transaction, compressed',
    value: 2117,
    unit: BYTES,
    source: KEPT,
  },
  entryBytes: {
    stage: 'Kafka',
    what: 'the same before compression',
    value: 8446,
    unit: BYTES,
    source: KEPT,
  },
  stateEvent: {
    stage: 'Kafka',
    what: 'what an event changes, on topic `wallet-state`',
    value: 400,
    unit: BYTES,
    source: null,
  },
  brokerEvent: {
    stage: 'Kafka',
    what: 'an event, on each broker that has it',
    value: 70,
    unit: CPU_US,
    source: SCALE,
  },
  workEvent: {
    stage: 'workers',
    what: 'an event: folded, stored and all that follows from it',
    value: 300,
    unit: CPU_US,
    source: SCALE,
  },
  books: {
    stage: 'workers',
    what: 'books of 100,000 wallets with 20 positions each',
    value: 1.48,
    unit: 'GiB',
    source: FOLD,
  },
  storeEvent: {
    stage: 'ClickHouse',
    what: 'an event: inserts, merges, and what the service reads',
    value: 380,
    unit: CPU_US,
    source: SCALE,
  },
  insert: {
    stage: 'ClickHouse',
    what: 'an insert, however few its rows',
    value: 8,
    unit: 'ms of CPU',
    source: FOLD,
  },
  insertsPerSlot: {
    stage: 'ClickHouse',
    what: 'inserts a slot of a worker that keeps up',
    value: 10,
    unit: 'inserts',
    source: null,
  },
  storedEvent: {
    stage: 'ClickHouse',
    what: 'an event in all tables, with 100,000 wallets',
    value: 419,
    unit: BYTES,
    source: FOLD,
  },
  storedLinks: {
    stage: 'ClickHouse',
    what: 'the links of its accounts',
    value: 140,
    unit: BYTES,
    source: LINKS,
  },
  storedKept: {
    stage: 'ClickHouse',
    what: 'the bytes of its transaction',
    value: 1550,
    unit: BYTES,
    source: KEPT,
  },
  storedRollup: {
    stage: 'ClickHouse',
    what: 'a swap in the rollups',
    value: 62,
    unit: BYTES,
    source: QUESTIONS,
  },
  answer: {
    stage: 'API',
    what: 'a REST answer of the mix',
    value: 76,
    unit: CPU_US,
    source: API,
  },
  answerBytes: {
    stage: 'API',
    what: 'a REST answer on the network',
    value: 10_000,
    unit: BYTES,
    source: null,
  },
  readEvent: {
    stage: 'API',
    what: 'an event and what it changes, in every process, without deliveries',
    value: 97,
    unit: CPU_US,
    source: SCALE,
  },
  deliverTogether: {
    stage: 'API',
    what: 'a trade to a socket that takes all of a slot',
    value: 0.88,
    unit: CPU_US,
    source: FEED,
  },
  deliverAlone: {
    stage: 'API',
    what: 'a trade alone to a socket',
    value: 9.95,
    unit: CPU_US,
    source: FEED,
  },
  tradeBytes: {
    stage: 'API',
    what: 'a trade on the network',
    value: 600,
    unit: BYTES,
    source: null,
  },
  openPosition: {
    stage: 'API',
    what: 'an open position, in every process',
    value: 95,
    unit: BYTES,
    source: POSITIONS,
  },
  socketMemory: {
    stage: 'API',
    what: 'a socket with an account of its own',
    value: 19.7,
    unit: 'KiB',
    source: SOCKETS,
  },
  hookEvent: {
    stage: 'webhooks',
    what: 'an event, in every process, without deliveries',
    value: 80,
    unit: CPU_US,
    source: SCALE,
  },
  charges: {
    stage: 'Redis',
    what: 'charges a second of one Redis',
    value: 70_936,
    unit: 'charges',
    source: API,
  },
} as const satisfies Readonly<Record<string, UnitCost>>

/** Rows of the table of unit costs: stage, what, figure, source. */
export function unitCostRows(): string[][] {
  return Object.values<UnitCost>(UNIT_COSTS).map(({ stage, what, value, unit, source }) => [
    stage,
    what,
    `${value.toLocaleString('en-US')} ${unit}`,
    source === null ? 'not measured' : `${source.table}, \`bench -- ${source.command}\``,
  ])
}
