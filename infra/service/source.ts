import type { Address } from '../../pipeline/domain/address.ts'
import type { SolPrice } from '../../pipeline/domain/slot.ts'
import type { StreamServers } from '../../pipeline/ingest/stream/endpoints.ts'
import { parseWalletLines } from '../../pipeline/ingest/wallets-file.ts'
import { readTextFile } from '../../pipeline/runtime/read-text-file.ts'
import type { SourceConfig } from './config.ts'
import { startSimulatedMarket } from './simulated-market.ts'

/** A running source of transactions. */
export interface Source {
  /** The Yellowstone servers, at least one. */
  readonly servers: StreamServers
  readonly rpcUrl: string
  readonly pricePool: Address
  /** Payment addresses of the simulator; null for a real chain. */
  readonly paymentAddresses: { readonly pro: Address; readonly credits: Address } | null
  /**
   * The simulator's history, which a new installation fetches. Null for a real chain, whose history
   * is fetched only on request.
   */
  readonly history: { readonly solPrices: readonly SolPrice[] } | null
  /** The tracked wallets as read at the start. */
  readonly wallets: WalletList
  /** Reads the wallets again, for SIGHUP (rule J5). */
  readWallets(): Promise<WalletList>
  /** The name of the wallets' file, for messages. */
  readonly walletsFile: string
  close(): Promise<void>
}

/** Tracked wallets, `W1` first, with their line numbers in the file; the simulator's have none. */
export interface WalletList {
  readonly addresses: readonly Address[]
  readonly lines: readonly number[]
}

/**
 * Opens the configured Yellowstone server, or starts the simulator in this process (rule J2).
 * Rejects with `bad_wallets_file`, naming the line.
 */
export async function openSource(config: SourceConfig): Promise<Source> {
  if (config.kind === 'yellowstone') {
    const { walletsFile } = config
    const wallets = await readWalletsFile(walletsFile)
    return {
      servers: config.servers,
      rpcUrl: config.rpcUrl.href,
      pricePool: config.solPricePool,
      paymentAddresses: null,
      history: null,
      wallets,
      readWallets: () => readWalletsFile(walletsFile),
      walletsFile,
      close: async () => {},
    }
  }
  const { walletsFile, seed, blocks, historyHours } = config
  const listed = walletsFile === null ? null : await readWalletsFile(walletsFile)
  const simulator = await startSimulatedMarket({
    seed,
    ...(blocks.length === 0 ? { historyHours } : { recorded: { files: blocks } }),
  })
  const solPrices = simulator.pastSolPrices
  const ofSimulator = { addresses: simulator.wallets, lines: [] }
  return {
    servers: [{ endpoint: simulator.endpoint, xToken: null }],
    rpcUrl: simulator.rpcUrl,
    pricePool: simulator.solPricePool,
    paymentAddresses: simulator.paymentAddresses,
    history: solPrices.length === 0 ? null : { solPrices },
    wallets: listed ?? ofSimulator,
    readWallets: async () => (walletsFile === null ? ofSimulator : readWalletsFile(walletsFile)),
    walletsFile: walletsFile ?? 'the simulator',
    close: () => simulator.close(),
  }
}

async function readWalletsFile(file: string): Promise<WalletList> {
  const lines = parseWalletLines(await readTextFile('WALLETS_FILE', file), file)
  return { addresses: [...lines.keys()], lines: [...lines.values()] }
}
