import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import type { Address } from '../../pipeline/domain/address.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { parseWallets } from '../../pipeline/ingest/wallets-file.ts'
import { startSimulator } from '../simulator/simulator.ts'
import type { SourceConfig } from './config.ts'

/** Where transactions come from, running. */
export interface Source {
  readonly endpoint: string
  readonly xToken: string | null
  readonly rpcUrl: string
  readonly pricePool: Address
  /** The tracked wallets, `W1` first. */
  readonly wallets: readonly Address[]
  /** Reads the wallets again, for SIGHUP (decisions J5). */
  readWallets(): Promise<readonly Address[]>
  /** What the wallets were read from, for messages. */
  readonly walletsFile: string
  close(): Promise<void>
}

/** A Yellowstone server as configured, or the simulator, started here (decisions J2). Rejects with `bad_wallets_file`, naming the line. */
export async function openSource(config: SourceConfig): Promise<Source> {
  if (config.kind === 'yellowstone') {
    const { walletsFile } = config
    const wallets = await readWalletsFile(walletsFile)
    await reach('YELLOWSTONE_ENDPOINT', config.endpoint)
    await reach('SOLANA_RPC_URL', config.rpcUrl)
    return {
      endpoint: config.endpoint.href,
      xToken: config.xToken,
      rpcUrl: config.rpcUrl.href,
      pricePool: config.solPricePool,
      wallets,
      readWallets: () => readWalletsFile(walletsFile),
      walletsFile,
      close: async () => {},
    }
  }
  const { walletsFile, seed, blocks } = config
  const listed = walletsFile === null ? null : await readWalletsFile(walletsFile)
  const simulator = await startSimulator({
    seed,
    ...(blocks.length === 0 ? {} : { recorded: { files: blocks } }),
  })
  return {
    endpoint: simulator.endpoint,
    xToken: null,
    rpcUrl: simulator.rpcUrl,
    pricePool: simulator.solPricePool,
    wallets: listed ?? simulator.wallets,
    readWallets: async () =>
      walletsFile === null ? simulator.wallets : readWalletsFile(walletsFile),
    walletsFile: walletsFile ?? 'the simulator',
    close: () => simulator.close(),
  }
}

/** Resolves when something listens where a key of the environment says, so that nothing is begun before that is known. */
async function reach(key: string, url: URL): Promise<void> {
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  const socket = connect({ host: url.hostname.replace(/^\[|\]$/g, ''), port })
  socket.setTimeout(REACH_MS, () => socket.destroy(new Error(`no answer in ${REACH_MS} ms`)))
  await once(socket, 'connect').catch((cause: unknown) => {
    throw new ServiceError('unreachable', `${key}: nothing answers at ${url.host}`, { cause })
  })
  socket.destroy()
}

const REACH_MS = 3000

async function readWalletsFile(file: string): Promise<readonly Address[]> {
  return parseWallets(await readTextFile('WALLETS_FILE', file), file)
}

/** The text of a file that a key of the environment names; rejects with `bad_config`, naming key and file. */
export async function readTextFile(key: string, file: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new ServiceError('bad_config', `${key}: cannot read ${file}`, { cause })
  })
}
