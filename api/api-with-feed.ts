import type { Perturb } from '../pipeline/domain/perturbation.ts'
import { type Api, type ApiDeps, createApi } from './api.ts'
import type { AccountChannel } from './channel/account-channel.ts'
import { createCursorCodec } from './cursor.ts'
import { Feed } from './stream/feed.ts'

/**
 * Dependencies of `createApiWithFeed`: those of the API, without the feed that it creates itself.
 */
export interface ApiWithFeedDeps extends Omit<ApiDeps, 'feed'> {
  /** Over which API processes exchange account events. The caller closes it. */
  readonly channel: AccountChannel
  readonly perturb: Perturb | null
}

/** The API of one process, and its live feed, which runs once the API listens. */
export function createApiWithFeed(deps: ApiWithFeedDeps): {
  readonly api: Api
  readonly feed: Feed
} {
  const { config, accounts } = deps
  const feed = new Feed({
    ...deps,
    revokedSince: (unixMs) => accounts.revokedSince(unixMs),
    findNamedKeys: (wallets, sha256s) => accounts.namedKeys.find(wallets, sha256s),
    cursors: createCursorCodec(config),
    connectionsPerKey: config.connectionsPerKey,
    retentionHours: config.retentionHours,
    messagesPerMinute: config.feedMessagesPerMinute,
  })
  return { api: createApi({ ...deps, feed }), feed }
}
