import { INSTRUCTION_FORMS, type ParsedFields } from './instruction-forms.ts'

/** An instruction with its data in bytes and its accounts as addresses. */
export interface RecompiledInstruction {
  readonly accounts: readonly string[]
  readonly data: Uint8Array
}

/**
 * Compiles an instruction that a node has parsed (`encoding: "jsonParsed"`) back to accounts and
 * bytes. `program` and `parsed` are as in the JSON. An unknown instruction has no accounts and no
 * data.
 *
 * Source of types and field names: agave 3.0,
 * `transaction-status/src/parse_{system,token,associated_token}.rs` and
 * `parse_token/extension/*.rs`. Source of byte layouts: `solana-system-interface`,
 * `spl-token-interface`.
 */
export function compileParsedInstruction(program: unknown, parsed: unknown): RecompiledInstruction {
  if (program === 'spl-memo' && typeof parsed === 'string') {
    return { accounts: [], data: new Uint8Array(Buffer.from(parsed, 'utf8')) }
  }
  const { type, info } = (typeof parsed === 'object' && parsed !== null ? parsed : {}) as Parsed
  if (typeof type !== 'string' || typeof info !== 'object' || info === null) return UNKNOWN
  const forms = typeof program === 'string' ? INSTRUCTION_FORMS.get(program) : undefined
  const form = forms?.get(type)
  if (form === undefined) return UNKNOWN
  // a JSON object: fields are read by name and checked one by one
  const fields = info as ParsedFields
  const data = form.data.map((part) => part(fields))
  if (data.some((bytes) => bytes === null)) return UNKNOWN
  const accounts = form.accounts.flatMap((names) => accountsOf(fields, names))
  return {
    accounts,
    data: new Uint8Array(Buffer.concat(data.filter((bytes) => bytes !== null))),
  }
}

type Parsed = { readonly type?: unknown; readonly info?: unknown }

const UNKNOWN: RecompiledInstruction = { accounts: [], data: new Uint8Array() }

function accountsOf(fields: ParsedFields, names: string): string[] {
  if (names === 'signers') return Array.isArray(fields.signers) ? fields.signers.map(String) : []
  const [first, twin] = names.split('~')
  if (first !== undefined && twin !== undefined) {
    return fields[first] === fields[twin] ? [] : [String(fields[first])]
  }
  for (const name of names.replace('?', '').split('|')) {
    const value = fields[name]
    if (typeof value === 'string') return [value]
  }
  return names.endsWith('?') ? [] : ['']
}
