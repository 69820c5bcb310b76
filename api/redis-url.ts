/** Where Redis is: the URL of one server, or Sentinels that know which server is the master. */
export type RedisUrl = URL | SentinelUrl

/** A Redis master that Sentinels watch. */
export interface SentinelUrl {
  /** At least one Sentinel; the others are learnt from it. */
  readonly sentinels: readonly { readonly host: string; readonly port: number }[]
  /** The name by which the Sentinels know the master. */
  readonly masterName: string
  readonly database: number
  /** User and password of the Redis servers; empty: none. */
  readonly username: string
  readonly password: string
  /** User and password of the Sentinels; empty: none. */
  readonly sentinelUsername: string
  readonly sentinelPassword: string
  /** Whether servers and Sentinels are reached over TLS. */
  readonly tls: boolean
}

/**
 * Reads the URL of a server (`redis:`, `rediss:`), or of Sentinels:
 * `redis+sentinel://[user:password@]host[:port][,host[:port]...]/master[/database]`, with
 * `rediss+sentinel:` for TLS. `?sentinel_username=` and `?sentinel_password=` are for the Sentinels
 * themselves. The default port is 26379. Returns undefined for other text.
 */
export function readRedisUrl(text: string): RedisUrl | undefined {
  const parts = SENTINEL.exec(text)?.groups
  if (parts === undefined) return readServerUrl(text)
  const sentinels = (parts.hosts ?? '').split(',').map(readAddress)
  const names = [parts.username, parts.password, parts.master].map((part = '') => decode(part))
  const [username, password, masterName] = names
  const query = new URLSearchParams(parts.query)
  const isKnown = [...query.keys()].every((key) => key in SENTINEL_PARAMETERS)
  if (username === undefined || password === undefined || !masterName || !isKnown) return undefined
  return sentinels.includes(undefined)
    ? undefined
    : {
        sentinels: sentinels as SentinelUrl['sentinels'], // checked: none is undefined
        masterName,
        database: Number(parts.database ?? 0),
        username,
        password,
        sentinelUsername: query.get('sentinel_username') ?? '',
        sentinelPassword: query.get('sentinel_password') ?? '',
        tls: text.startsWith('rediss'),
      }
}

/** Returns where to connect first, as `host:port`: the server, or each of the Sentinels. */
export function redisAddresses(url: RedisUrl): readonly string[] {
  if (url instanceof URL) return [`${url.hostname}:${url.port || 6379}`]
  return url.sentinels.map(({ host, port }) =>
    host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`,
  )
}

const SENTINEL =
  /^rediss?\+sentinel:\/\/(?:(?<username>[^:@/?#]*)(?::(?<password>[^@/?#]*))?@)?(?<hosts>[^@/?#]+)\/(?<master>[^/?#]+)(?:\/(?<database>[0-9]{1,5}))?\/?(?:\?(?<query>[^#]*))?$/
const SENTINEL_PARAMETERS = { sentinel_username: true, sentinel_password: true }
const SENTINEL_PORT = 26379

function readServerUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isRedis = url?.protocol === 'redis:' || url?.protocol === 'rediss:'
  return isRedis && url.hostname !== '' ? url : undefined
}

function readAddress(text: string): { host: string; port: number } | undefined {
  const url = URL.canParse(`redis://${text}`) ? new URL(`redis://${text}`) : undefined
  if (url === undefined || url.hostname === '') return undefined
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || SENTINEL_PORT) }
}

/** Decodes `%xx`; undefined if it is no valid UTF-8. */
function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}
