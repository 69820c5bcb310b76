import {
  type EnvOf,
  envInteger,
  envList,
  envString,
  envText,
  envUrl,
} from '../pipeline/runtime/env.ts'
import type { JwtKeys } from './auth/jwt-keys.ts'

/** The environment of the API (decisions J2). */
export const apiEnv = {
  HOST: envText('a host name or IP address', '127.0.0.1', (text) =>
    /^[A-Za-z0-9.:_-]{1,253}$/.test(text) ? text : undefined,
  ).default('127.0.0.1'),
  PORT: envInteger(0, 65535, 8080).default(8080),
  REDIS_URL: envUrl(['redis', 'rediss'], 'redis://user:password@redis:6379').optional(),
  SECRET_KEY: envText('at least 32 bytes in hex or base64', 'of openssl rand -hex 32', (text) =>
    readSecret(text),
  ).optional(),
  JWT_KEYS_FILE: envString().optional(),
  PUBLIC_URL: envUrl(['http', 'https'], 'https://api.example').optional(),
  CORS_ORIGINS: envList('origins', 'https://app.example,https://other.example', (text) =>
    URL.canParse(text) && new URL(text).origin === text ? text : undefined,
  ).optional(),
  TRUSTED_PROXIES: envInteger(0, 10, 1).default(0),
  RATE_LIMIT_PER_MINUTE: envInteger(0, 10_000_000, 6000).default(6000),
  LOGIN_RATE_LIMIT_PER_MINUTE: envInteger(0, 10_000_000, 10).default(10),
  CONNECTIONS_PER_KEY: envInteger(1, 1000, 1).default(1),
  FEED_RETENTION_HOURS: envInteger(24, 10_000, 24).default(24),
}

/** What the API is told; the parts it works with are given beside it. */
export interface ApiConfig {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** Where clients find the API; null: where it listens. */
  readonly publicUrl: string | null
  /** At least 32 bytes; makes cursors unreadable (decisions D4). */
  readonly secretKey: Uint8Array
  /** Sign and verify dashboard tokens (decisions E2). */
  readonly jwtKeys: JwtKeys
  /** How many feed connections one key may have; a newer one closes the oldest (decisions F6). */
  readonly connectionsPerKey: number
  /** How far back the feed goes when a client comes back (decisions F4); default 24. */
  readonly retentionHours?: number
  /** Requests a minute for each client; 0: no limit (decisions D6). */
  readonly rateLimitPerMinute: number
  /** Of `/auth/nonce` and `/auth/login` together, for each client and for each wallet; 0: no limit. */
  readonly loginRateLimitPerMinute: number
  /** Proxies in front of this server that are believed. */
  readonly trustedProxies: number
  /** Origins whose pages may call the API. */
  readonly corsOrigins: readonly string[]
}

function readSecret(text: string): Uint8Array | undefined {
  const hex = /^([0-9a-fA-F]{2})+$/.test(text)
  if (!hex && !/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return undefined
  const bytes = Buffer.from(text, hex ? 'hex' : 'base64')
  return bytes.length >= 32 ? bytes : undefined
}

/** The API's configuration from its environment and its secrets, which the embedded service makes for itself (`keptSecretKey`, `keptJwtKeys`). */
export function apiConfig(
  env: EnvOf<typeof apiEnv>,
  secrets: Pick<ApiConfig, 'secretKey' | 'jwtKeys'>,
): ApiConfig {
  return {
    host: env.HOST,
    port: env.PORT,
    publicUrl: env.PUBLIC_URL?.origin ?? null,
    ...secrets,
    connectionsPerKey: env.CONNECTIONS_PER_KEY,
    retentionHours: env.FEED_RETENTION_HOURS,
    rateLimitPerMinute: env.RATE_LIMIT_PER_MINUTE,
    loginRateLimitPerMinute: env.LOGIN_RATE_LIMIT_PER_MINUTE,
    trustedProxies: env.TRUSTED_PROXIES,
    corsOrigins: env.CORS_ORIGINS ?? [],
  }
}
