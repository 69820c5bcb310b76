import { createAccountLocks } from '../../../api/account-locks.ts'
import { billingEnv, pricesOf } from '../../../api/billing/terms.ts'
import { createMemoryChannel } from '../../../api/channel/account-channel.ts'
import type { Meter } from '../../../api/credits/meter.ts'
import { openEmbeddedStore } from '../../../api/testing/open-stores.ts'
import { ServiceError } from '../../../pipeline/domain/service-error.ts'
import type { EventLog } from '../../../pipeline/log/log.ts'
import { createMemoryLog } from '../../../pipeline/log/memory.ts'
import { readEnv } from '../../../pipeline/runtime/env.ts'
import { createLogger } from '../../../pipeline/runtime/logger.ts'
import { createRegistry } from '../../../pipeline/runtime/telemetry.ts'
import type { Store } from '../../../pipeline/store/store.ts'
import { createCreditSystem, openMeter } from '../../service/credit-system.ts'
import { openProgramNames } from '../../service/program-labels.ts'
import type { CommandResult } from '../command.ts'
import { runCommand } from '../commands.ts'
import type { OperatorParts } from '../parts.ts'

/** Operator commands over an embedded store, a meter and a log in memory. */
export interface OpenedOperator {
  readonly store: Store
  readonly meter: Meter
  readonly log: EventLog
  readonly parts: OperatorParts
  /** Runs a command with these arguments. */
  run(...args: string[]): Promise<CommandResult>
  /** The code and message with which a command is refused. */
  refused(...args: string[]): Promise<string>
  close(): Promise<void>
}

/** Opens an operator over a new store. No fold worker reads its log, and it has no RPC server. */
export async function openOperator(): Promise<OpenedOperator> {
  const logger = createLogger('silent')
  const { store, remove } = await openEmbeddedStore()
  const log = createMemoryLog({ logger, registry: createRegistry() }, { retryDelayMs: 1 })
  const meter = await openMeter({ kind: 'memory' }, logger)
  const parts: OperatorParts = {
    store,
    storeConfig: { kind: 'chdb', path: '' },
    log: async () => log,
    solPriceMaxAgeSeconds: 3600,
    salt: null,
    names: await openProgramNames(null),
    readerUrl: null,
    backfills: () => Promise.reject(new Error('no RPC here')),
    stop: new AbortController().signal,
    caller: { user: 'ann', uid: 1000 },
    confirmAboveCredits: 100_000,
    transactionBytesDays: null,
    prices: pricesOf(readEnv(billingEnv, {})),
    locks: createAccountLocks(null),
    channel: async () => createMemoryChannel(),
    ...createCreditSystem(store, meter, logger, null),
  }
  const run = (...args: string[]) => runCommand(args, parts, () => {})
  return {
    store,
    meter,
    log,
    parts,
    run,
    async refused(...args) {
      const error = await run(...args).then(
        () => null,
        (reason: unknown) => reason,
      )
      if (!(error instanceof ServiceError)) throw new Error(`not refused: ${args.join(' ')}`)
      return `${error.code}: ${error.message}`
    },
    async close() {
      await log.close()
      await remove()
    },
  }
}
