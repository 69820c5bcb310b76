import { createLogger } from '../../pipeline/runtime/logger.ts'
import { createStore } from '../../pipeline/store/create-store.ts'
import { migrate } from '../../pipeline/store/migrate.ts'
import { loadDataConfig } from '../service/config.ts'
import { createMoney, openMeter } from '../service/money.ts'
import type { Outcome } from './command.ts'
import { runCommand } from './commands.ts'
import { answer, askOperator, type Reply } from './socket.ts'

const args = process.argv.slice(2)
const reply = await run()
if (reply.kind === 'done') {
  process.stdout.write(`${JSON.stringify(reply.outcome.document)}\n`)
  process.exitCode = reply.outcome.failed ? 1 : 0
} else {
  process.stdout.write(`${JSON.stringify({ code: reply.code, message: reply.message })}\n`)
  process.exitCode = 1
}

/** Through the process that owns the data when one runs, else on the data itself (decisions J3). */
async function run(): Promise<Reply> {
  let asked: Reply | null = null
  const done = await answer(async () => {
    const config = loadDataConfig(process.env)
    const shared = config.store.kind === 'clickhouse' && config.meter.kind === 'redis'
    if (!shared) asked = await askOperator(config.dataDir, args)
    return asked === null ? runHere(config) : { document: null }
  })
  return asked ?? done
}

async function runHere(config: ReturnType<typeof loadDataConfig>): Promise<Outcome> {
  const logger = createLogger(config.logLevel)
  const store = await createStore(config.store)
  try {
    await migrate(store)
    const meter = await openMeter(config.meter, logger)
    try {
      const { ledger, accounts } = createMoney(store, meter, logger)
      return await runCommand(args, { store, ledger, accounts })
    } finally {
      await meter.close()
    }
  } finally {
    await store.close()
  }
}
