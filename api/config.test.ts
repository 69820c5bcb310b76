import test from 'ava'
import { readEnv } from '../pipeline/runtime/env.ts'
import { apiEnv } from './config.ts'

const [ONE, OTHER] = ['ab'.repeat(32), Buffer.alloc(40, 7).toString('base64')]

test('SECRET_KEY is a list of keys, the issuing one first (rule J14)', (t) => {
  const keysOf = (SECRET_KEY: string) => readEnv(apiEnv, { SECRET_KEY }).SECRET_KEY
  t.deepEqual(keysOf(ONE), [Buffer.alloc(32, 0xab)])
  t.deepEqual(keysOf(`${OTHER}, ${ONE}`), [Buffer.alloc(40, 7), Buffer.alloc(32, 0xab)])
})

test('a list of secret keys with an empty, repeated, short or unreadable one is refused', (t) => {
  const message = `bad configuration:
  SECRET_KEY: expected different keys of at least 32 bytes in hex or base64, separated by commas, for example one of openssl rand -hex 32`
  const ofOne = Buffer.from(ONE, 'hex').toString('base64')
  for (const SECRET_KEY of [
    `${ONE},`,
    `,${ONE}`,
    `${ONE},,${OTHER}`,
    `${ONE},${ONE}`,
    `${ONE},${ofOne}`,
    `${ONE},${'ab'.repeat(31)}`,
    `${ONE} ${OTHER}`,
    ',',
  ])
    t.throws(() => readEnv(apiEnv, { SECRET_KEY }), { code: 'bad_config', message }, SECRET_KEY)
})
