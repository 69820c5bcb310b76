import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDecoder, type Decoder } from '../../pipeline/decode/decoder.ts'
import { LabelTable } from '../../pipeline/decode/labels.ts'
import { createProgramRegistry, knownProgram, PROGRAMS } from '../../pipeline/decode/registry.ts'
import { addressFromBytes, parseAddress } from '../../pipeline/domain/address.ts'
import type { WalletEvent } from '../../pipeline/domain/event.ts'
import { createWallets, type Wallets } from '../../pipeline/domain/wallets.ts'
import { difference, type SourceExpectation } from './compare.ts'
import { CONVENTIONS } from './conventions.ts'
import { readCoverage } from './coverage.ts'
import { PATHS } from './paths.ts'
import { corpusFolder, feePayers, type RecordedTransaction, readCorpus } from './read-corpus.ts'
import { version1Differences } from './version-1.ts'

/**
 * `npm run corpus`: decodes every recorded transaction with every fee payer tracked, prints the
 * results by venue, and compares them with independent sources. Exits with 1 when a difference has
 * no explanation in `conventions.ts`, and with 0 also when there is no corpus.
 */
function main(): number {
  const folder = corpusFolder()
  if (folder === null) {
    print('no corpus: set CORPUS_DIR to a folder of recorded transactions')
    return 0
  }
  const recorded = readCorpus()
  const wallets = createWallets(feePayers(recorded))
  const decoder = createDecoder(wallets)
  printVenues(recorded, decoder)
  printShares(recorded, wallets)
  printCoverage(recorded, decoder, wallets)
  const isSame = printVersion1(recorded, decoder)
  const isExplained = printDifferences(folder, recorded)
  return isSame && isExplained ? 0 : 1
}

const COLUMNS = [
  'transactions',
  'swaps',
  'transfers',
  'delta_only',
  'mismatch',
  'undecoded',
] as const
type Row = Record<(typeof COLUMNS)[number], number>

/**
 * Prints one row for each venue, router or order program that a successful transaction calls;
 * events count in the row of each of them.
 */
function printVenues(recorded: readonly RecordedTransaction[], decoder: Decoder): void {
  const rows = new Map<string, Row>()
  for (const { tx, blockTime } of recorded) {
    if (tx.failed) continue
    const result = decoder.decode(tx, blockTime)
    const records = result.kind === 'decoded' ? result.records : []
    const names = calledPrograms(tx)
    for (const name of names.size === 0 ? ['(none of the table)'] : names) {
      const row = rows.get(name) ?? {
        transactions: 0,
        swaps: 0,
        transfers: 0,
        delta_only: 0,
        mismatch: 0,
        undecoded: 0,
      }
      rows.set(name, row)
      row.transactions++
      for (const record of records) {
        if (record.kind === 'undecoded') row.undecoded++
        if (record.kind === 'token_transfer' || record.kind === 'sol_transfer') row.transfers++
        if (record.kind !== 'swap') continue
        row.swaps++
        if (record.confidence === 'delta_only') row.delta_only++
        if (record.quoteMismatch) row.mismatch++
      }
    }
  }
  const order = [...PROGRAMS.map(({ name }) => name), '(none of the table)']
  const missing = [...new Set(PROGRAMS.map(({ name }) => name))].filter((name) => !rows.has(name))
  print(`${'program'.padEnd(20)}${COLUMNS.map((column) => column.padStart(13)).join('')}`)
  for (const [name, row] of [...rows].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))) {
    print(`${name.padEnd(20)}${COLUMNS.map((column) => String(row[column]).padStart(13)).join('')}`)
  }
  print(`not recorded: ${missing.join(', ')}\n`)
}

/**
 * Prints the share of each name in the swaps of each file, with the labels that ship and without
 * labels (rule B11a).
 */
function printShares(recorded: readonly RecordedTransaction[], wallets: Wallets): void {
  const decoders = [
    ['', createDecoder(wallets)],
    [
      ' without labels',
      createDecoder(wallets, createProgramRegistry(PROGRAMS, new LabelTable([]))),
    ],
  ] as const
  for (const file of new Set(recorded.map((entry) => entry.file))) {
    const own = recorded.filter((entry) => entry.file === file)
    for (const [which, decoder] of decoders)
      print(`swaps of ${file} by name${which}: ${sharesOf(own, decoder)}`)
  }
  print('')
}

function sharesOf(recorded: readonly RecordedTransaction[], decoder: Decoder): string {
  const swaps = new Map<string, number>()
  let total = 0
  for (const { tx, blockTime } of recorded) {
    const result = decoder.decode(tx, blockTime)
    for (const record of result.kind === 'decoded' ? result.records : []) {
      if (record.kind !== 'swap') continue
      swaps.set(record.program, (swaps.get(record.program) ?? 0) + 1)
      total++
    }
  }
  const shares = [...swaps]
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${((100 * count) / total).toFixed(1)}%`)
  return [`${total} swaps`, ...shares].join(', ')
}

/**
 * Prints how many of the transactions that touch a venue gave `high` swaps, and why the others gave
 * none.
 */
function printCoverage(
  recorded: readonly RecordedTransaction[],
  decoder: Decoder,
  wallets: Wallets,
): void {
  const touching = recorded.filter(
    ({ tx }) => !tx.failed && calledPrograms(tx, ['venue', 'router', 'order']).size > 0,
  )
  const { high, deltaOnly, none } = readCoverage(touching, decoder, wallets)
  print(
    `${touching.length} transactions touch a venue, router or order program and succeed: ${high} gave swaps that are all high, ${deltaOnly} gave delta_only; none from`,
  )
  for (const [why, count] of none) print(`${String(count).padStart(6)}  ${why}`)
  print('')
}

function calledPrograms(
  tx: RecordedTransaction['tx'],
  kinds: readonly string[] = ['venue', 'router', 'order', 'not_trading'],
): Set<string> {
  const names = new Set<string>()
  for (const { programIndex } of tx.instructions) {
    const program = knownProgram(tx.accountKeys[programIndex]!)
    if (program !== null && 'name' in program && kinds.includes(program.kind))
      names.add(program.name)
  }
  return names
}

/**
 * Prints how many transactions of each version were recorded, and whether each gives the same
 * records when it is rewritten in version 1. Returns false where one does not.
 */
function printVersion1(recorded: readonly RecordedTransaction[], decoder: Decoder): boolean {
  const versions = new Map<string, number>()
  let differences = 0
  for (const one of recorded) {
    const version = String(one.json.version)
    versions.set(version, (versions.get(version) ?? 0) + 1)
    for (const path of version1Differences(one, decoder)) {
      differences++
      print(`${one.signature}\n  other records in version 1, ${path}`)
    }
  }
  const recordedAs = [...versions].map(([version, count]) => `${count} ${version}`).join(', ')
  print(`recorded by version: ${recordedAs}`)
  print(
    `rewritten in version 1: ${recorded.length} transactions, each by ${PATHS.length} paths (${PATHS.join(', ')}): ${differences} differences\n`,
  )
  return differences === 0
}

function printDifferences(folder: string, recorded: readonly RecordedTransaction[]): boolean {
  const path = join(folder, 'expectations.jsonl')
  if (!existsSync(path)) return true
  const bySignature = new Map(recorded.map((entry) => [entry.signature, entry]))
  const counts = { agree: 0, explained: 0, unexplained: 0, absent: 0 }
  for (const line of readFileSync(path, 'utf8').trim().split('\n')) {
    // The cast is safe: the README of the corpus defines this format.
    const expected = JSON.parse(line) as SourceExpectation
    const entry = bySignature.get(expected.signature)
    if (entry === undefined) {
      counts.absent++
      continue
    }
    const found = difference(expected, eventsOf(entry, expected.wallet))
    const convention = CONVENTIONS[expected.signature]
    if (found === null) {
      counts.agree++
    } else if (convention !== undefined) {
      counts.explained++
      print(`${expected.signature}\n  ${found}\n  explained: ${convention}`)
    } else {
      counts.unexplained++
      print(`${expected.signature}\n  ${found}\n  UNEXPLAINED`)
    }
  }
  const { agree, explained, unexplained, absent } = counts
  print(
    `\nexpectations: ${agree} agree, ${explained} explained, ${unexplained} unexplained, ${absent} without a transaction`,
  )
  return unexplained === 0
}

function eventsOf(
  { tx, blockTime }: RecordedTransaction,
  wallet: string | undefined,
): WalletEvent[] {
  const tracked = parseAddress(wallet ?? '') ?? addressFromBytes(tx.accountKeys[0]!)
  const result = createDecoder(createWallets([tracked])).decode(tx, blockTime)
  if (result.kind !== 'decoded') return []
  return result.records.filter((record) => 'eventIndex' in record)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

process.exitCode = main()
