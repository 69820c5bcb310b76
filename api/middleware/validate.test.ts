import test from 'ava'
import fc from 'fast-check'
import { declaredQuery, unknownParameters } from './validate.ts'

const NAMES = ['limit', 'cursor', 'a b', 'é', '']

test('declared parameters are parsed as URLSearchParams does, and others are dropped', (t) => {
  const piece = fc.constantFrom('&', '=', '+', '%', '%20', '%2', '%zz', '%C3%A9', '%ff', '%00', '?')
  const name = fc.constantFrom(
    ...NAMES,
    'limi%74',
    '%6Cimit',
    'a+b',
    'a%20b',
    '%C3%A9',
    'other',
    '__proto__',
    'toString',
  )
  const text = fc.array(fc.oneof(piece, name, fc.string()), { maxLength: 40 })
  fc.assert(
    fc.property(text, fc.subarray(NAMES), (parts, declared) => {
      const query = parts.join('')
      const all = new URLSearchParams(query)
      const expected = new Map(
        declared
          .filter((name) => all.has(name))
          .map((name) => {
            const values = all.getAll(name)
            return [name, values.length === 1 ? values[0] : values]
          }),
      )
      const actual = declaredQuery(query, new Set(declared))
      t.deepEqual(new Map(Object.entries(actual).sort()), new Map([...expected].sort()))
    }),
  )
})

test('unknown parameters are named once, sorted, at most ten, and only by names that a header field can have (rule L2)', (t) => {
  const of = (text: string) => unknownParameters(text, new Set(['limit', 'cursor']))
  t.deepEqual(
    {
      none: of(''),
      known: of('limit=1&cursor=2&limit=3'),
      some: of('sort=pnl&limit=1&Limit=2&sort=x&a.b-c_d=1'),
      encoded: of('s%6Frt=1'),
      unfit: of(`a b=1&é=2&=3&x%0d%0ay=4&${'n'.repeat(41)}=5&${'n'.repeat(40)}=6`),
      many: of(Array.from({ length: 12 }, (_, n) => `p${String(n).padStart(2, '0')}=1`).join('&')),
    },
    {
      none: '',
      known: '',
      some: 'Limit, a.b-c_d, sort',
      encoded: 'sort',
      unfit: 'n'.repeat(40),
      many: 'p00, p01, p02, p03, p04, p05, p06, p07, p08, p09',
    },
  )
})

test('parsing a query takes linear time', (t) => {
  const names = new Set(['limit'])
  const time = (keys: number) => {
    const query = Array.from({ length: keys }, (_, n) => `k${n}`).join('&')
    const turns = Array.from({ length: 7 }, () => {
      const started = performance.now()
      declaredQuery(query, names)
      return performance.now() - started
    })
    return Math.min(...turns)
  }
  time(1000)
  t.true(time(20_000) < 20 * 10 * Math.max(time(1000), 0.05))
})
