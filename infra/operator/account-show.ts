import { z } from 'zod'
import type { CustomerAccount } from '../../api/accounts/accounts.ts'
import { readPro } from '../../api/billing/subscriptions.ts'
import { readTopUps } from '../../api/credits/ledger-entries.ts'
import { limitOption, optionCommand, walletOption } from './command.ts'

/**
 * `account show`: prints an account: its key without the key itself, credits, plan and top-ups.
 * Credits are null if the meter does not answer. Rejects with `account_not_found`.
 */
export const accountShow = optionCommand({
  name: 'account show',
  summary: 'Prints an account: key, credits, plan and top-ups.',
  usage: '--wallet <address>',
  options: { wallet: walletOption },
  isRecorded: true,
  async run({ wallet }, { accounts, ledger, store }) {
    const account = await accounts.get(wallet)
    const [balance_credits, pro, topUps] = await Promise.all([
      ledger.updateMeter(wallet).catch(() => null),
      readPro(store, wallet, Date.now()),
      readTopUps(store, wallet),
    ])
    return {
      document: {
        ...itemOf(account),
        balance_credits,
        plan: pro.plan,
        plan_expires_at: pro.expiresAt,
        top_ups: topUps.map(({ signature, amount, credits, createdAt }) => ({
          signature,
          amount_usdt: Number(amount) / 1e6,
          credits,
          created_at: createdAt,
        })),
      },
    }
  },
})

/** `account list`: lists accounts by wallet. `--after <last wallet>` gives the next page. */
export const accountList = optionCommand({
  name: 'account list',
  summary: 'Lists the accounts of customers.',
  usage: '[--after <address>] [--limit <n>]',
  options: {
    after: z.string().default(''),
    limit: limitOption(1000),
  },
  isRecorded: true,
  async run({ after, limit }, { accounts }) {
    return { document: { items: (await accounts.list(after, limit)).map(itemOf) } }
  },
})

function itemOf({ wallet, createdAt, key, disabledAt }: CustomerAccount) {
  return {
    wallet,
    created_at: secondsOf(createdAt),
    api_key_last4: key?.last4 ?? null,
    api_key_created_at: secondsOf(key?.createdAt),
    api_key_rotated_at: secondsOf(key?.rotatedAt),
    disabled_at: secondsOf(disabledAt),
  }
}

function secondsOf(milliseconds: number | null | undefined): number | null {
  return milliseconds ? Math.floor(milliseconds / 1000) : null
}
