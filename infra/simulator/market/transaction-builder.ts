import { strict as assert } from 'node:assert'
import { addTo } from '../memo.ts'
import { byteWriter } from './byte-writer.ts'
import type { Key } from './key.ts'
import { COMPUTE_BUDGET, SYSTEM } from './programs.ts'

/** A mint, with the fields that token balances need. */
export interface Mint {
  readonly key: Key
  readonly decimals: number
  /** The token program that owns the mint: SPL Token or Token-2022. */
  readonly program: Key
}

/** A token account before or after a transaction. */
export interface TokenAccount {
  readonly mint: Mint
  readonly owner: Key
  readonly amount: bigint
}

/**
 * Balances before a transaction. Lamports of tracked wallets may be relative to an unknown base.
 */
export interface LedgerBalances {
  lamports(account: Key): bigint
  tokenAccount(account: Key): TokenAccount | null
}

/** An account in an instruction. */
export interface AccountMeta {
  readonly key: Key
  readonly signer: boolean
  readonly writable: boolean
}

/** A readonly account of an instruction. */
export const readonly = (key: Key): AccountMeta => ({ key, signer: false, writable: false })
/** A writable account of an instruction. */
export const writable = (key: Key): AccountMeta => ({ key, signer: false, writable: true })
/** A signing, readonly account of an instruction. */
export const signer = (key: Key): AccountMeta => ({ key, signer: true, writable: false })
/** A signing, writable account of an instruction. */
export const writableSigner = (key: Key): AccountMeta => ({ key, signer: true, writable: true })

/** An address lookup table: keys by index. */
export interface LookupTable {
  readonly key: Key
  readonly entries: readonly Key[]
}

/** Balances of an account before and after the transaction. */
export interface DraftBalance {
  readonly account: number
  readonly token: TokenAccount
}

/** An instruction; programs and accounts by index. */
export interface DraftInstruction {
  readonly program: number
  readonly accounts: Uint8Array
  readonly data: Uint8Array
  readonly depth: number
}

/**
 * A transaction without what depends on its place in the chain: slot, index, signature, blockhash
 * and the base of the wallets' lamports.
 */
export interface Draft {
  /** Whether the message has a version: 0, or 1 where it has a config. */
  readonly versioned: boolean
  readonly config: BudgetConfig | null
  readonly signerCount: number
  readonly readonlySignerCount: number
  readonly readonlyUnsignedCount: number
  /** Static keys. */
  readonly staticKeys: readonly Key[]
  readonly lookups: readonly {
    readonly table: Key
    readonly writable: Uint8Array
    readonly readonly: Uint8Array
  }[]
  readonly loadedWritable: readonly Key[]
  readonly loadedReadonly: readonly Key[]
  /** All keys by account index. */
  readonly keys: readonly Key[]
  readonly instructions: readonly DraftInstruction[]
  /** Inner instructions, by the index of their top-level instruction. */
  readonly inner: ReadonlyMap<number, readonly DraftInstruction[]>
  readonly logs: readonly string[]
  readonly computeUnits: number
  readonly fee: bigint
  /** The error; null for a successful transaction. */
  readonly failure: InstructionFailure | null
  readonly pre: readonly bigint[]
  readonly post: readonly bigint[]
  readonly preTokens: readonly DraftBalance[]
  readonly postTokens: readonly DraftBalance[]
  /** Balances afterwards of all accounts that may have changed. */
  readonly after: ReadonlyMap<
    string,
    { readonly key: Key; readonly lamports: bigint; readonly token: TokenAccount | null }
  >
}

/** The compute budget in a message of version 1. The priority fee is a total in lamports. */
export interface BudgetConfig {
  readonly priorityFee: bigint
  readonly computeUnitLimit: number
  readonly loadedAccountsDataSizeLimit: number
}

/** The error `InstructionError(instruction, Custom(code))`. */
export interface InstructionFailure {
  readonly instruction: number
  readonly code: number
}

interface Entry {
  readonly key: Key
  signer: boolean
  writable: boolean
  /**
   * Whether a top-level instruction calls this program. Its key cannot come from a lookup table.
   */
  invoked: boolean
  readonly preLamports: bigint
  readonly preToken: TokenAccount | null
  lamports: bigint
  token: TokenAccount | null
}

interface Recorded {
  readonly program: Entry
  readonly accounts: readonly Entry[]
  readonly data: Uint8Array
  readonly depth: number
}

/** Maximum of the loaded accounts' data, in bytes. Without a limit, version 1 loads nothing. */
const MOST_LOADED_BYTES = 64 * 1024 * 1024

class InstructionFailed extends Error {
  readonly code: number
  constructor(code: number) {
    super(`custom program error: 0x${code.toString(16)}`)
    this.code = code
  }
}

/**
 * Builds a transaction by executing it. Programs are functions that record their instruction with
 * `call`, record inner calls within its body, and move lamports and tokens. So instructions, stack
 * heights, logs and balances always agree.
 */
export class TransactionBuilder {
  readonly payer: Key
  readonly #ledger: LedgerBalances
  readonly #entries = new Map<string, Entry>()
  readonly #top: Recorded[] = []
  readonly #inner = new Map<number, Recorded[]>()
  readonly #logs: string[] = []
  #depth = 0
  #computeUnits = 0
  #unitLimit = 200_000
  #priorityFee = 0n
  #config: BudgetConfig | null = null
  #failure: InstructionFailure | null = null

  constructor(payer: Key, ledger: LedgerBalances) {
    this.payer = payer
    this.#ledger = ledger
    const entry = this.#entry(payer)
    entry.signer = true
    entry.writable = true
  }

  /** Sets the compute unit limit and price (micro-lamports a unit), which give the priority fee. */
  computeBudget(unitLimit: number, unitPrice: bigint): void {
    this.#setBudget(unitLimit, unitPrice)
    this.call(COMPUTE_BUDGET, [], byteWriter(5).u8(2).u32(unitLimit).done())
    this.call(COMPUTE_BUDGET, [], byteWriter(9).u8(3).u64(unitPrice).done())
  }

  /** Sets the same budget in the message's config, which makes the message one of version 1. */
  configBudget(unitLimit: number, unitPrice: bigint): void {
    this.#setBudget(unitLimit, unitPrice)
    this.#config = {
      priorityFee: this.#priorityFee,
      computeUnitLimit: unitLimit,
      loadedAccountsDataSizeLimit: MOST_LOADED_BYTES,
    }
  }

  #setBudget(unitLimit: number, unitPrice: bigint): void {
    this.#unitLimit = unitLimit
    this.#priorityFee = (unitPrice * BigInt(unitLimit) + 999_999n) / 1_000_000n
  }

  /**
   * Records an instruction of `program`, top-level or called by the one whose body runs, then runs
   * its own body. After a failure, later top-level instructions are recorded but not run.
   */
  call(
    program: Key,
    accounts: readonly AccountMeta[],
    data: Uint8Array,
    body?: () => void,
    units = 0,
  ): void {
    const programEntry = this.#entry(program)
    const entries = accounts.map((meta) => {
      const entry = this.#entry(meta.key)
      if (this.#depth === 0) {
        entry.signer ||= meta.signer
        entry.writable ||= meta.writable
      } else {
        assert(entry.writable || !meta.writable, 'a called program writes only what its caller may')
      }
      return entry
    })
    this.#depth += 1
    const recorded: Recorded = {
      program: programEntry,
      accounts: entries,
      data,
      depth: this.#depth,
    }
    if (this.#depth === 1) {
      programEntry.invoked = true
      this.#top.push(recorded)
    } else {
      addTo(this.#inner, this.#top.length - 1, recorded)
    }
    try {
      if (this.#failure === null) this.#run(program, body, units)
    } finally {
      this.#depth -= 1
    }
  }

  #run(program: Key, body: (() => void) | undefined, units: number): void {
    const name = program.address
    const limit = this.#unitLimit - this.#computeUnits
    const native = program === SYSTEM || program === COMPUTE_BUDGET
    this.#logs.push(`Program ${name} invoke [${this.#depth}]`)
    const before = this.#computeUnits
    this.#computeUnits += native ? 150 : units
    try {
      body?.()
    } catch (error) {
      if (!(error instanceof InstructionFailed)) throw error
      this.#logs.push(`Program ${name} failed: ${error.message}`)
      if (this.#depth > 1) throw error
      this.#failure = { instruction: this.#top.length - 1, code: error.code }
      return
    }
    if (!native) {
      const used = this.#computeUnits - before
      this.#logs.push(`Program ${name} consumed ${used} of ${Math.max(limit, used)} compute units`)
    }
    this.#logs.push(`Program ${name} success`)
  }

  /** Fails the running instruction, and with it the transaction, with a custom program error. */
  fail(code: number): never {
    throw new InstructionFailed(code)
  }

  /** Number of accounts named so far, including programs. */
  get accountCount(): number {
    return this.#entries.size
  }

  log(line: string): void {
    this.#logs.push(`Program log: ${line}`)
  }

  logData(data: Uint8Array): void {
    this.#logs.push(`Program data: ${Buffer.from(data).toString('base64')}`)
  }

  logReturn(program: Key, data: Uint8Array): void {
    this.#logs.push(`Program return: ${program.address} ${Buffer.from(data).toString('base64')}`)
  }

  lamports(key: Key): bigint {
    return this.#entries.get(key.id)?.lamports ?? this.#ledger.lamports(key)
  }

  token(key: Key): TokenAccount | null {
    const entry = this.#entries.get(key.id)
    return entry === undefined ? this.#ledger.tokenAccount(key) : entry.token
  }

  /** Moves lamports without an instruction, as programs do with accounts that they own. */
  moveLamports(from: Key, to: Key, lamports: bigint): void {
    this.#entry(from).lamports -= lamports
    this.#entry(to).lamports += lamports
  }

  setToken(key: Key, token: TokenAccount | null): void {
    this.#entry(key).token = token
  }

  #entry(key: Key): Entry {
    let entry = this.#entries.get(key.id)
    if (entry === undefined) {
      assert(this.#depth === 0, 'instructions name all accounts that the programs they call use')
      const lamports = this.#ledger.lamports(key)
      const token = this.#ledger.tokenAccount(key)
      const flags = { signer: false, writable: false, invoked: false }
      entry = { key, ...flags, preLamports: lamports, preToken: token, lamports, token }
      this.#entries.set(key.id, entry)
    }
    return entry
  }

  /**
   * Compiles the message: version 1 if its budget is in a config, else version 0 with the keys that
   * `tables` can load, or legacy.
   */
  build(format: { readonly versioned: boolean; readonly tables: readonly LookupTable[] }): Draft {
    const signers: Entry[] = []
    const readonlySigners: Entry[] = []
    const writables: Entry[] = []
    const readonlys: Entry[] = []
    const versioned = format.versioned || this.#config !== null
    const tables = versioned && this.#config === null ? format.tables : []
    const loaded = this.#lookUp(tables)
    for (const entry of this.#entries.values()) {
      if (loaded.ids.has(entry.key.id)) continue
      if (entry.signer) (entry.writable ? signers : readonlySigners).push(entry)
      else (entry.writable ? writables : readonlys).push(entry)
    }
    const statics = [...signers, ...readonlySigners, ...writables, ...readonlys]
    const all = [...statics, ...loaded.writable, ...loaded.readonly]
    const indexes = new Map(all.map((entry, index) => [entry, index]))
    const compile = (recorded: Recorded): DraftInstruction => ({
      program: indexes.get(recorded.program)!,
      accounts: Uint8Array.from(recorded.accounts, (entry) => indexes.get(entry)!),
      data: recorded.data,
      depth: recorded.depth,
    })
    const signerCount = signers.length + readonlySigners.length
    const failed = this.#failure !== null
    const fee = 5_000n * BigInt(signerCount) + this.#priorityFee
    const post = all.map((entry) => (failed ? entry.preLamports : entry.lamports))
    post[0]! -= fee
    const balances = (token: (entry: Entry) => TokenAccount | null) =>
      all.flatMap((entry, account) => {
        const found = token(entry)
        return found === null ? [] : [{ account, token: found }]
      })
    const after = new Map<string, { key: Key; lamports: bigint; token: TokenAccount | null }>()
    all.forEach((entry, index) => {
      const token = failed ? entry.preToken : entry.token
      if (post[index] === entry.preLamports && token === entry.preToken) return
      after.set(entry.key.id, { key: entry.key, lamports: post[index]!, token })
    })
    return {
      versioned,
      config: this.#config,
      signerCount,
      readonlySignerCount: readonlySigners.length,
      readonlyUnsignedCount: readonlys.length,
      staticKeys: statics.map((entry) => entry.key),
      lookups: loaded.lookups,
      loadedWritable: loaded.writable.map((entry) => entry.key),
      loadedReadonly: loaded.readonly.map((entry) => entry.key),
      keys: all.map((entry) => entry.key),
      instructions: this.#top.map(compile),
      inner: new Map([...this.#inner].map(([at, list]) => [at, list.map(compile)])),
      logs: this.#logs,
      computeUnits: this.#computeUnits,
      fee,
      failure: this.#failure,
      pre: all.map((entry) => entry.preLamports),
      post,
      preTokens: balances((entry) => entry.preToken),
      postTokens: balances((entry) => (failed ? entry.preToken : entry.token)),
      after,
    }
  }

  /**
   * Assigns accounts to tables. Signers and programs of top-level instructions cannot come from
   * one.
   */
  #lookUp(tables: readonly LookupTable[]): Lookups {
    const result = noLookups()
    for (const table of tables) {
      const writable: number[] = []
      const readonly: number[] = []
      const entries: Entry[][] = [[], []]
      table.entries.forEach((key, index) => {
        const entry = this.#entries.get(key.id)
        if (entry === undefined || entry.signer || entry.invoked) return
        if (result.ids.has(key.id)) return
        result.ids.add(key.id)
        ;(entry.writable ? writable : readonly).push(index)
        entries[entry.writable ? 0 : 1]!.push(entry)
      })
      if (writable.length + readonly.length === 0) continue
      result.lookups.push({
        table: table.key,
        writable: Uint8Array.from(writable),
        readonly: Uint8Array.from(readonly),
      })
      result.writable.push(...entries[0]!)
      result.readonly.push(...entries[1]!)
    }
    return result
  }
}

interface Lookups {
  readonly ids: Set<string>
  readonly writable: Entry[]
  readonly readonly: Entry[]
  readonly lookups: { table: Key; writable: Uint8Array; readonly: Uint8Array }[]
}

function noLookups(): Lookups {
  return { ids: new Set(), writable: [], readonly: [], lookups: [] }
}
