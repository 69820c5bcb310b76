import test from 'ava'
import { createLogger } from './logger.ts'

test('fields with the names of secrets are not logged, in the line or one level below', (t) => {
  const lines: string[] = []
  const logger = createLogger('debug', { write: (line) => void lines.push(line) })
  const names =
    'authorization apiKey api_key password secret token xToken x-token url signature nonce'.split(
      ' ',
    )
  for (const name of names) {
    logger.info({ [name]: 'hush' }, 'one')
    logger.error({ headers: { [name]: 'hush' } }, 'two')
  }
  t.is(lines.length, names.length * 2)
  t.false(lines.join('').includes('hush'))
  t.true(lines.every((line) => line.includes('[secret]')))
})
