import test from 'ava'
import { readRedisUrl, redisAddresses, type SentinelUrl } from './redis-url.ts'

const ONE: SentinelUrl = {
  sentinels: [{ host: 'one', port: 26379 }],
  masterName: 'mymaster',
  database: 0,
  username: '',
  password: '',
  sentinelUsername: '',
  sentinelPassword: '',
  tls: false,
}

test('a URL of Sentinels has their addresses, the name of the master, and passwords', (t) => {
  t.deepEqual(readRedisUrl('redis+sentinel://one/mymaster'), ONE)
  t.deepEqual(readRedisUrl('rediss+sentinel://one/mymaster'), { ...ONE, tls: true })
  const url = readRedisUrl(
    'redis+sentinel://api:p%40ss%2Fword@one:5000,10.0.0.2,[::1]:7/main/3?sentinel_username=u&sentinel_password=p%26q',
  )
  t.deepEqual(url, {
    ...ONE,
    sentinels: [
      { host: 'one', port: 5000 },
      { host: '10.0.0.2', port: 26379 },
      { host: '::1', port: 7 },
    ],
    masterName: 'main',
    database: 3,
    username: 'api',
    password: 'p@ss/word',
    sentinelUsername: 'u',
    sentinelPassword: 'p&q',
  })
  t.deepEqual(redisAddresses(url as SentinelUrl), ['one:5000', '10.0.0.2:26379', '[::1]:7'])
})

test('the URL of a server stays what it is', (t) => {
  const url = readRedisUrl('rediss://api:secret@redis/2')
  t.deepEqual(url, new URL('rediss://api:secret@redis/2'))
  t.deepEqual(redisAddresses(url as URL), ['redis:6379'])
})

for (const text of [
  'http://redis',
  'redis://',
  'redis+sentinel://one,two',
  'redis+sentinel://one,two/',
  'redis+sentinel:///mymaster',
  'redis+sentinel://one,,two/mymaster',
  'redis+sentinel://one:99999/mymaster',
  'redis+sentinel://one/mymaster/zero',
  'redis+sentinel://one/my%ffmaster',
  'redis+sentinel://one/mymaster?sentinel_passwort=p',
])
  test(`${text} is refused`, (t) => t.is(readRedisUrl(text), undefined))
