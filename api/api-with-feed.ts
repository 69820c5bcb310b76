import type { Perturb } from '../pipeline/domain/perturbation.ts'
import type { Logger } from '../pipeline/runtime/logger.ts'
import type { OnStage } from '../pipeline/runtime/slot-stage.ts'
import { type Api, type ApiDeps, createApi } from './api.ts'
import { type AccountChannel, createMemoryChannel } from './channel/account-channel.ts'
import { createRedisChannel } from './channel/redis.ts'
import { createCursorCodec } from './cursor.ts'
import { Feed } from './stream/feed.ts'

/**
 * Dependencies of `createApiWithFeed`: those of the API, without the parts that it creates itself.
 */
export interface ApiWithFeedDeps extends Omit<ApiDeps, 'feed' | 'channel'> {
  /** Redis over which API processes exchange account events; null: there is one process. */
  readonly redisUrl: URL | null
  readonly perturb: Perturb | null
  /** Called when the feed has merged or written a slot. */
  readonly onStage?: OnStage | undefined
}

/**
 * The API of one process together with its live feed and its channel to other API processes. Its
 * `close` also closes the channel. Rejects with `unreachable` when Redis does not answer, and with
 * `bad_config` when Redis refuses the user or password.
 */
export async function createApiWithFeed(deps: ApiWithFeedDeps): Promise<Api> {
  const { config, accounts } = deps
  const channel = await openChannel(deps.redisUrl, deps.logger)
  const feed = new Feed({
    ...deps,
    channel,
    revokedSince: (unixMs) => accounts.revokedSince(unixMs),
    cursors: createCursorCodec(config.secretKey),
    connectionsPerKey: config.connectionsPerKey,
    retentionHours: config.retentionHours,
    messagesPerMinute: config.feedMessagesPerMinute,
  })
  const api = createApi({ ...deps, feed, channel })
  return {
    async listen() {
      try {
        return await api.listen()
      } catch (error) {
        await channel.close()
        throw error
      }
    },
    replaceJwtKeys: (keys) => api.replaceJwtKeys(keys),
    async close() {
      await api.close()
      await channel.close()
    },
  }
}

/** The channel on which API processes exchange account events (rule F6). */
async function openChannel(redisUrl: URL | null, logger: Logger): Promise<AccountChannel> {
  return redisUrl === null ? createMemoryChannel() : createRedisChannel(redisUrl, logger)
}
