import test from 'ava'
import bs58 from 'bs58'
import { TokenTable, wordsOf } from './token-table.ts'

test('a token is found by its mint among thousands, with the sums of its holders, until the last leaves', (t) => {
  const mints = Array.from({ length: 8000 }, (_, at) =>
    bs58.encode(Buffer.alloc(32, `${at} mint ${at * 31}`)),
  )
  const table = new TokenTable()
  const tokens = mints.map((mint) => table.addHolder(wordsOf(mint), 0, 5n, 2n ** 70n))
  for (const [at, mint] of mints.entries()) {
    if (at % 2 === 0) table.addHolder(wordsOf(mint), 0, 2n, -1n)
    if (at % 3 === 0) table.removeHolder(tokens[at]!, 5n, 2n ** 70n)
  }
  const found = mints.map((mint) => {
    const token = table.find(wordsOf(mint))
    if (token === 0) return null
    const { held, lamports } = { held: table.held(token), lamports: table.boughtLamports(token) }
    return [table.mint(token), table.holders(token), held, lamports]
  })
  const expected = mints.map((mint, at) => {
    const [isTwice, isLeft] = [at % 2 === 0, at % 3 === 0]
    if (isLeft && !isTwice) return null
    const first = isLeft ? ([0, 0n, 0n] as const) : ([1, 5n, 2n ** 70n] as const)
    const more = isTwice ? ([1, 2n, -1n] as const) : ([0, 0n, 0n] as const)
    return [mint, first[0] + more[0], first[1] + more[1], first[2] + more[2]]
  })
  t.deepEqual(found, expected)
  t.is(table.size, expected.filter((one) => one !== null).length)
})
