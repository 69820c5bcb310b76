import type { AccountState, OwnedTokenAccount } from '../chain.ts'
import type { DeskIndex } from './desks.ts'
import type { Scale } from './episode.ts'
import type { Episodes } from './episodes.ts'
import type { Key } from './key.ts'
import { SYSTEM, TOKEN_ACCOUNT_RENT } from './programs.ts'
import type { TokenAccount } from './transaction-builder.ts'
import { type Universe, USDC_TOKEN, usdcAccountOf, type Wallet } from './universe.ts'

/** Accounts of tracked wallets, as a slot left them. */
export interface WalletAccounts {
  /** The system account of a wallet; null for an address that is not a tracked wallet. */
  account(address: string, slot: number): AccountState | null
  /** Token accounts of a wallet, USDC first; empty for an address that is not a tracked wallet. */
  tokenAccounts(owner: string, slot: number): readonly OwnedTokenAccount[]
}

/** Creates the look-up over a market's episodes. */
export function createWalletAccounts(market: {
  readonly universe: Universe
  readonly scales: readonly Scale[]
  readonly episodes: Episodes
  readonly deskIndex: DeskIndex
}): WalletAccounts {
  const { universe, scales, episodes, deskIndex } = market
  const walletOf = (address: string): Wallet | undefined =>
    universe.wallets.find(({ key }) => key.address === address)
  return {
    account(address, slot) {
      const wallet = walletOf(address)
      const desk = wallet && deskIndex.find(wallet.key.id)
      if (!wallet || !desk) return null
      const lamports = wallet.baseLamports + episodes.changeAfter(desk, wallet.key.id, slot)
      return { lamports, owner: SYSTEM.address, data: Buffer.alloc(0) }
    },
    tokenAccounts(owner, slot) {
      const wallet = walletOf(owner)
      const desk = wallet && deskIndex.find(wallet.key.id)
      if (!wallet || !desk) return []
      const usdc = usdcAccountOf(wallet.key)
      const amount = wallet.baseUsdc + episodes.changeAfter(desk, usdc.id, slot)
      const found = new Map<string, OwnedTokenAccount | null>()
      for (const scale of scales) {
        for (const [at, actions] of episodes.at(desk, scale, slot).actions) {
          if (at > slot) continue
          for (const { key, lamports, token } of actions.flatMap(({ draft }) => [
            ...draft.after.values(),
          ])) {
            if (key.id === usdc.id || (token !== null && token.owner.address !== owner)) continue
            found.set(key.address, token === null ? null : ownedAccount(key, lamports, token))
          }
        }
      }
      const others = [...found.values()].filter((account) => account !== null)
      const token = { mint: USDC_TOKEN, owner: wallet.key, amount }
      return [ownedAccount(usdc, TOKEN_ACCOUNT_RENT, token), ...others]
    },
  }
}

function ownedAccount(key: Key, lamports: bigint, token: TokenAccount): OwnedTokenAccount {
  const { mint, owner, amount } = token
  return {
    address: key.address,
    mint: mint.key.address,
    owner: owner.address,
    program: mint.program.address,
    amount,
    decimals: mint.decimals,
    lamports,
  }
}
