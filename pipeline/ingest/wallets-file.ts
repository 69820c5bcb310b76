import { type Address, parseAddress } from '../domain/address.ts'
import { ServiceError } from '../domain/service-error.ts'

/**
 * Parses `WALLETS_FILE` (rule J2): one base58 address per line, without duplicates. Blank lines and
 * `#` comments are allowed. The n-th address is `W<n>` forever. Throws `bad_wallets_file` that
 * names the line, never its content (rule I1).
 */
export function parseWallets(text: string, file: string): Address[] {
  return [...parseWalletLines(text, file).keys()]
}

/** Like `parseWallets`, with the line number of each address. In the order of the lines. */
export function parseWalletLines(text: string, file: string): ReadonlyMap<Address, number> {
  const lines = new Map<Address, number>()
  text.split('\n').forEach((raw, at) => {
    const line = (raw.split('#')[0] ?? '').trim()
    if (line === '') return
    const address = parseAddress(line)
    if (address === null) {
      throw fault(file, at + 1, 'is not a base58 address of 32 bytes')
    }
    const first = lines.get(address)
    if (first !== undefined) throw fault(file, at + 1, `repeats the address of line ${first}`)
    lines.set(address, at + 1)
  })
  if (lines.size === 0) throw fault(file, null, 'contains no address')
  return lines
}

/**
 * Checks that wallets were only added at the end. `known` are the stored addresses, `W1` first.
 * Throws `bad_wallets_file` that names the alias of the first changed or removed address, and its
 * line if `lines` has the line numbers of `addresses`.
 */
export function checkWalletsKept(
  addresses: readonly Address[],
  known: readonly Address[],
  file: string,
  lines: readonly number[] = [],
): void {
  const changed = known.findIndex((address, at) => address !== addresses[at])
  if (changed === -1) return
  const what = addresses[changed] === undefined ? 'is missing' : 'has another address'
  const last = lines.at(-1)
  throw fault(
    file,
    lines[changed] ?? (last === undefined ? null : last + 1),
    `differs from the stored wallets: W${changed + 1} ${what}; lines may only be added at the end`,
  )
}

function fault(file: string, line: number | null, what: string): ServiceError {
  const where = line === null ? file : `line ${line} of ${file}`
  return new ServiceError('bad_wallets_file', `WALLETS_FILE: ${where} ${what}`, {
    context: { file, line },
  })
}
