import { coarsen } from '../../../pipeline/domain/coarsen.ts'
import type { BalanceRecord, WalletEvent } from '../../../pipeline/domain/event.ts'
import { createPerturb } from '../../../pipeline/domain/perturbation.ts'
import { toFoldEvent } from '../../../pipeline/fold/fold-event.ts'
import { foldBalance, foldEvent } from '../../../pipeline/fold/fold-wallet.ts'
import { createWalletState } from '../../../pipeline/fold/wallet-state.ts'
import type { Row } from '../../../pipeline/store/store.ts'
import { metricsRow } from '../../../pipeline/workers/fold/book-rows.ts'
import { addTo } from '../../simulator/memo.ts'
import { createRandom } from '../../simulator/random.ts'
import { print, printHead, printRow } from '../kit/figures.ts'

/** The events of some wallets, in event-key order. */
export interface WalletHistories {
  readonly events: readonly WalletEvent[]
  readonly balances: readonly BalanceRecord[]
}

const BALANCE = ['sol_balance_lamports']
const TRANSFERS = ['received_lamports', 'sent_lamports']
const BOOKS = ['bought_lamports', 'sold_lamports', 'invested_open_lamports', 'pnl_lamports']

/** The columns of a wallet in `GET /wallets` that a join compares. */
const JOINS = [
  ['sol_balance', BALANCE],
  ['sol_received and sol_sent', TRANSFERS],
  ['the three together', [...BALANCE, ...TRANSFERS]],
  ['all SOL sums', [...BALANCE, ...TRANSFERS, ...BOOKS]],
  [
    'counts of trades, tokens, transfers',
    ['buys', 'sells', 'unique_tokens_traded', 'transfers_in'],
  ],
] as const

/** Size of the larger index: the market's wallets, and others with similar figures. */
const INDEX_WALLETS = 100_000

/**
 * An attack without trades: joins the figures of one `GET /wallets`, or one row of an analyst's
 * view, with an index of true figures. Prints the fraction of aliases that fit exactly one wallet
 * of the index, with `PRIVACY_SALT` off and on.
 */
export function measureJoins(history: WalletHistories, salt: string): void {
  const exact = metricsOf(history, false)
  const coarse = metricsOf(history, true)
  const others = likeThese(exact)
  print('')
  printHead('joined by', 'wallets in the index', 'salt off', 'salt on')
  for (const [name, columns] of JOINS)
    for (const index of [exact, [...exact, ...others]]) {
      const off = shareNamed(exact, index, (row) => textOf(row, columns))
      const on = shareNamed(coarse, index, (row) => coarseTextOf(row, columns))
      printRow(name, index.length, off, on)
    }
  for (const [name, rows] of viewsOf(history))
    printRow(name, exact.length, nameByRow(rows, null), nameByRow(rows, salt))
}

/** Rows of `wallet_metrics` as the fold stores them. */
function metricsOf({ events, balances }: WalletHistories, isSalted: boolean): Row[] {
  const states = new Map<number, ReturnType<typeof createWalletState>>()
  const stateOf = (wallet: number) => {
    const state = states.get(wallet) ?? createWalletState(wallet)
    states.set(wallet, state)
    return state
  }
  for (const event of events) foldEvent(stateOf(event.wallet), toFoldEvent(event))
  for (const balance of balances) foldBalance(stateOf(balance.wallet), balance)
  return [...states.values()].map((state) => metricsRow(state, 0n, 0, isSalted))
}

/** Generates untracked wallets. Each figure is that of a random market wallet times 0.1 to 10. */
function likeThese(rows: readonly Row[]): Row[] {
  const random = createRandom(1)
  const columns = [...new Set(JOINS.flatMap(([, names]) => names))]
  return Array.from({ length: INDEX_WALLETS - rows.length }, () =>
    Object.fromEntries(
      columns.map((column) => {
        const figure = Number(random.pick(rows)[column] ?? 0)
        return [column, BigInt(Math.round(figure * 10 ** random.between(-1, 1)))]
      }),
    ),
  )
}

const textOf = (row: Row, columns: readonly string[]) => columns.map((name) => row[name]).join(' ')

/** Counts are served unchanged. */
function coarseTextOf(row: Row, columns: readonly string[]): string {
  return columns
    .map((name) => {
      const figure = row[name] as bigint | number | null // its columns
      return typeof figure === 'bigint' && name.endsWith('lamports') ? coarsen(figure) : figure
    })
    .join(' ')
}

/** Fraction of the served rows that fit exactly one row of the index. */
function shareNamed(
  served: readonly Row[],
  index: readonly Row[],
  text: (row: Row) => string,
): string {
  const fitting = new Map<string, number>()
  for (const row of index) fitting.set(text(row), (fitting.get(text(row)) ?? 0) + 1)
  const named = served.filter((row) => fitting.get(text(row)) === 1).length
  return share(named, served.length)
}

const share = (part: number, whole: number) => `${Math.round((100 * part) / whole)}%`

/** A true row of a view; `kind` holds what is compared besides amount and time. */
interface ViewRow {
  readonly wallet: number
  readonly slot: number
  readonly txIndex: number
  readonly eventIndex: number
  readonly blockTime: number
  readonly kind: string
  readonly amount: bigint
}

function viewsOf({ events, balances }: WalletHistories): [name: string, rows: ViewRow[]][] {
  const tokens: ViewRow[] = []
  const sol: ViewRow[] = []
  for (const event of events) {
    if (event.kind === 'token_transfer')
      tokens.push({ ...event, kind: `${event.direction} ${event.mint}` })
    if (event.kind === 'sol_transfer')
      sol.push({ ...event, kind: event.direction, amount: event.lamports })
  }
  const held = balances.map((balance) => ({
    ...balance,
    kind: 'balance',
    eventIndex: 0,
    amount: balance.lamports,
  }))
  return [
    ['the newest row of `analyst.sol_balances`', held],
    ['the newest row of `analyst.sol_transfers`', sol],
    ['the newest row of `analyst.transfers`', tokens],
  ]
}

/** Fraction of the wallets whose newest row fits true rows of one wallet alone. */
function nameByRow(rows: readonly ViewRow[], salt: string | null): string {
  const perturb = createPerturb(salt)
  const [from, to] = perturb === null ? [0, 0] : [3, 16]
  const served = (amount: bigint) => (perturb === null ? amount : coarsen(amount))
  const newest = new Map(rows.map((row) => [row.wallet, row]))
  const index = new Map<string, ViewRow[]>()
  for (const row of rows) addTo(index, `${row.kind} ${served(row.amount)}`, row)
  const named = [...newest.values()].filter((row) => {
    const time = row.blockTime - (perturb?.(row).earlierSeconds ?? 0)
    const fitting = (index.get(`${row.kind} ${served(row.amount)}`) ?? []).filter(
      ({ blockTime }) => blockTime >= time + from && blockTime <= time + to,
    )
    return new Set(fitting.map(({ wallet }) => wallet)).size === 1
  })
  return `${share(named.length, newest.size)} of ${newest.size}`
}
