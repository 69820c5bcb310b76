import { pricesOf } from '../../api/billing/terms.ts'
import type { AccountChannel } from '../../api/channel/account-channel.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { runCommand } from '../operator/commands.ts'
import { serveOperator } from '../operator/socket.ts'
import type { ServiceContext } from './context.ts'
import type { TrackedHistory } from './history.ts'
import type { ServicePart } from './open-parts.ts'
import type { ProgramNames } from './program-labels.ts'
import type { Stores } from './stores.ts'

/**
 * Serves operator commands on the socket in `DATA_DIR` (rule J3). `history` is null in a process
 * that does not ingest: `backfill` is then `bad_config`.
 */
export function startOperatorSocket(
  { config, logger }: Pick<ServiceContext, 'config' | 'logger'>,
  { store, log, ledger, accounts, locks, channel }: Stores & { readonly channel: AccountChannel },
  names: ProgramNames,
  history: Pick<TrackedHistory, 'backfills'> | null,
): Promise<ServicePart> {
  const openBackfills = async () => {
    if (history) return history.backfills
    throw new ServiceError('bad_config', 'ROLES: the running service does not ingest')
  }
  return serveOperator(
    config.dataDir,
    (args, report, stop, caller) =>
      runCommand(
        args,
        {
          ...config,
          store,
          storeConfig: config.store,
          log: async () => log,
          backfills: openBackfills,
          ledger,
          accounts,
          locks,
          channel: async () => channel,
          prices: pricesOf(config.billing),
          salt: config.privacySalt,
          names,
          caller,
          stop,
        },
        report,
      ),
    logger,
  )
}
