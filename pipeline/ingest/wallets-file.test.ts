import test from 'ava'
import { addressFromBytes } from '../domain/address.ts'
import { ServiceError } from '../domain/service-error.ts'
import { checkWalletsKept, parseWallets } from './wallets-file.ts'

const [a, b, c] = [1, 2, 3].map((byte) => addressFromBytes(new Uint8Array(32).fill(byte))) as [
  ReturnType<typeof addressFromBytes>,
  ReturnType<typeof addressFromBytes>,
  ReturnType<typeof addressFromBytes>,
]

test('WALLETS_FILE has one address per line; comments and blank lines are ignored (rule J2)', (t) => {
  t.deepEqual(parseWallets(`# ours\n${b}\r\n\n  ${a}  # the second\n${c}`, 'w.txt'), [b, a, c])
})

test('the error for an invalid or repeated line names the line and not its content', (t) => {
  const cases = [
    [`${a}\nnonsense\n`, 'WALLETS_FILE: line 2 of w.txt is not a base58 address of 32 bytes'],
    [`${a}\n${a.slice(1)}\n`, 'WALLETS_FILE: line 2 of w.txt is not a base58 address of 32 bytes'],
    [`${a}\n#\n${b}\n${a}\n`, 'WALLETS_FILE: line 4 of w.txt repeats the address of line 1'],
    ['# nothing\n', 'WALLETS_FILE: w.txt contains no address'],
  ] as const
  for (const [text, message] of cases) {
    const error = t.throws(() => parseWallets(text, 'w.txt'), { instanceOf: ServiceError })
    t.deepEqual([error?.code, error?.message], ['bad_wallets_file', message])
  }
})

test('stored wallets keep their numbers: a changed or removed line is an error', (t) => {
  t.notThrows(() => checkWalletsKept([a, b, c], [a, b], 'w.txt'))
  t.notThrows(() => checkWalletsKept([a], [], 'w.txt'))
  const cases = [
    [[a, c], 'W2 has another address'],
    [[b, a], 'W1 has another address'],
    [[a], 'W2 is missing'],
  ] as const
  for (const [addresses, what] of cases) {
    const error = t.throws(() => checkWalletsKept(addresses, [a, b], 'w.txt'), {
      instanceOf: ServiceError,
    })
    t.deepEqual(
      [error?.code, error?.message],
      [
        'bad_wallets_file',
        `WALLETS_FILE: w.txt differs from the stored wallets: ${what}; lines may only be added at the end`,
      ],
    )
  }
  const lines = [3, 7] // of a file with comments and blank lines
  const changed = t.throws(() => checkWalletsKept([a, c], [a, b], 'w.txt', lines))
  t.regex(
    String(changed),
    /line 7 of w.txt differs from the stored wallets: W2 has another address/,
  )
  const missing = t.throws(() => checkWalletsKept([a], [a, b], 'w.txt', [3]))
  t.regex(String(missing), /line 4 of w.txt differs from the stored wallets: W2 is missing/)
})
