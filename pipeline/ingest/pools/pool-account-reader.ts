import type { Address } from '../../domain/address.ts'
import { type AccountsRpc, MAX_ACCOUNTS_PER_CALL } from '../rpc/solana-rpc.ts'
import type { PoolSnapshots } from './pool-snapshots.ts'

/** Reads accounts of pools over RPC into their snapshots. Rejects like `AccountsRpc`. */
export interface PoolAccountReader {
  /** Reads pools without a usable snapshot, which also makes their vaults known. */
  readUnread(): Promise<void>
  /** Reads subscribed accounts that are stale, at slot `minContextSlot` or later. */
  readStale(minContextSlot: number): Promise<void>
}

/** A reader that fills `snapshots` from `rpc`. */
export function createPoolAccountReader(
  rpc: AccountsRpc,
  snapshots: PoolSnapshots,
): PoolAccountReader {
  async function read(addresses: readonly Address[], minContextSlot?: number): Promise<void> {
    for (let start = 0; start < addresses.length; start += MAX_ACCOUNTS_PER_CALL) {
      const batch = addresses.slice(start, start + MAX_ACCOUNTS_PER_CALL)
      const { slot, accounts } = await rpc.getAccountsAt(batch, minContextSlot)
      batch.forEach((address, index) => {
        const { owner, data } = accounts[index] ?? NO_ACCOUNT
        snapshots.applyRead(address, { slot, owner, data })
      })
    }
  }

  return {
    async readUnread() {
      await read(snapshots.unread())
      snapshots.updateAccounts()
    },
    readStale: (minContextSlot) => read(snapshots.stale(), minContextSlot),
  }
}

const NO_ACCOUNT = { owner: '', data: new Uint8Array() }
