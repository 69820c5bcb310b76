import { createApiWithFeed } from '../../api/api-with-feed.ts'
import { type JwtKeys, readJwtKeys, readOrCreateJwtKeys } from '../../api/auth/jwt-keys.ts'
import type { AccountChannel } from '../../api/channel/account-channel.ts'
import { type ApiConfig, apiConfig } from '../../api/config.ts'
import { readOrCreateSecretKey } from '../../api/secret-key.ts'
import type { Feed } from '../../api/stream/feed.ts'
import { createPerturb } from '../../pipeline/domain/perturbation.ts'
import { readTextFile } from '../../pipeline/runtime/read-text-file.ts'
import type { AddSpan } from '../../pipeline/runtime/span.ts'
import type { ServiceConfig } from './config.ts'
import type { ServiceContext } from './context.ts'
import { demoApiKey } from './demo-account.ts'
import type { ServicePart } from './open-parts.ts'
import { createBilling, type PaymentWatch } from './payments.ts'
import { type Reload, reloadFile } from './reload.ts'
import type { Source } from './source.ts'
import type { Stores } from './stores.ts'

/**
 * The secrets of the API: from the environment, or made at the first start and kept in `DATA_DIR`.
 */
export type ApiSecrets = Pick<ApiConfig, 'secretKeys' | 'tradeIdKey' | 'jwtKeys'>

/**
 * Reads the secrets of the API. Rejects with `bad_config`, naming the key or file, never a secret.
 */
export async function readApiSecrets(config: ServiceConfig): Promise<ApiSecrets> {
  const { JWT_KEYS_FILE: file } = config.api
  const given = file === undefined ? null : await readKeys(file)
  return {
    ...(await readFeedSecrets(config)),
    jwtKeys: given ?? (await readOrCreateJwtKeys(config.dataDir)),
  }
}

/** The secrets of positions, of `trade_id`s, and of webhooks. */
export type FeedSecrets = Pick<ApiSecrets, 'secretKeys' | 'tradeIdKey'>

/** Reads the secrets of the feed. */
export async function readFeedSecrets({ api, dataDir }: ServiceConfig): Promise<FeedSecrets> {
  const { SECRET_KEY, TRADE_ID_KEY } = api
  const secretKeys = SECRET_KEY ?? ([await readOrCreateSecretKey(dataDir)] as const)
  return { secretKeys, tradeIdKey: TRADE_ID_KEY ?? secretKeys[0] }
}

async function readKeys(file: string): Promise<JwtKeys> {
  return readJwtKeys(await readTextFile('JWT_KEYS_FILE', file), 'JWT_KEYS_FILE')
}

/** The running API. */
export interface RunningApi extends ServicePart {
  /** Lines for stdout: the URL, and for a demo service a key and an example call (rule J1). */
  readonly lines: readonly string[]
  /** Reads `JWT_KEYS_FILE` again. */
  readonly reload: Reload
  /** The live feed, which role webhooks of this process reads too. */
  readonly feed: Feed
}

/** Starts the API with its feed and listens on `PORT`. */
export async function serveApi(
  context: ServiceContext,
  stores: Stores,
  parts: {
    readonly secrets: ApiSecrets
    readonly channel: AccountChannel
    readonly payments: PaymentWatch | null
    readonly source: Source | null
    readonly addSpan: AddSpan | undefined
  },
): Promise<RunningApi> {
  const { config } = context
  const { accounts } = stores
  const { secrets, channel, payments } = parts
  const simulator = config.source.kind === 'simulator' ? parts.source : null
  const { api, feed } = createApiWithFeed({
    ...context,
    ...stores,
    config: {
      ...apiConfig(config.api, secrets),
      solPriceMaxAgeSeconds: config.solPriceMaxAgeSeconds,
    },
    channel,
    addSpan: parts.addSpan,
    perturb: createPerturb(config.privacySalt),
    billing: payments && createBilling(payments, stores),
    testWallet: simulator && { rpcUrl: simulator.rpcUrl },
  })
  const { url } = await api.listen()
  return {
    lines: [
      `url=${url}`,
      ...(simulator && config.store.kind === 'chdb'
        ? demoLines(url, await demoApiKey(config.dataDir, accounts))
        : []),
      // A developer sends test payments to the simulator's own RPC server.
      ...(simulator ? [`rpc_url=${simulator.rpcUrl}`] : []),
    ],
    reload: reloadJwtKeys(context, (keys) => api.replaceJwtKeys(keys)),
    feed,
    close: () => api.close(),
  }
}

function demoLines(url: string, key: string): readonly string[] {
  const call = `curl -s -H 'Authorization: Bearer ${key}' '${url}/trades?limit=3'`
  return [`api_key=${key}`, call]
}

function reloadJwtKeys(
  { config, logger }: Pick<ServiceContext, 'config' | 'logger'>,
  replace: (keys: JwtKeys) => void,
): Reload {
  const { JWT_KEYS_FILE: file } = config.api
  if (file === undefined) return async () => {}
  return reloadFile(logger, 'JWT keys not read again, the old ones stay in force', async () => {
    const keys = await readKeys(file)
    replace(keys)
    logger.info({ keys: keys.published.length }, 'JWT keys read again')
  })
}
