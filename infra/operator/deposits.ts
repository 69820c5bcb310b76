import { z } from 'zod'
import { assignDeposit, previewAssignment } from '../../api/billing/assign.ts'
import { readUnmatched } from '../../api/billing/deposit-rows.ts'
import { PURPOSES } from '../../pipeline/domain/payment.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { type Command, optionCommand, walletOption } from './command.ts'

const list = optionCommand({
  name: 'deposits',
  summary: 'Lists payments that have bought nothing yet.',
  usage: '--unmatched [--before <slot>] [--min <usdt>]',
  options: {
    before: z
      .string()
      .regex(/^[0-9]{1,15}$/, 'expected a slot')
      .transform(Number)
      .optional(),
    min: z
      .string()
      .regex(/^[0-9]{1,12}(\.[0-9]{1,6})?$/, 'expected USDT, for example 0.5')
      .transform(rawUsdt)
      .optional(),
  },
  async run({ before, min: minAmount }, { store, prices }) {
    const { total, items } = await readUnmatched(store, prices, { before, minAmount })
    return {
      document: {
        total,
        items: items.map(({ amount, blockTime, ...item }) => ({
          ...item,
          amount_usdt: Number(amount) / 1e6,
          block_time: blockTime === 0 ? null : blockTime,
        })),
      },
    }
  },
})

/**
 * `deposits --unmatched`: lists payments that have bought nothing yet, newest first, each with its
 * reason, and their total. A page has about 1000; `--before <last slot>` gives the next page.
 */
export const deposits: Command = {
  ...list,
  run([flag, ...args], parts, report) {
    if (flag === '--unmatched') return list.run(args, parts, report)
    return Promise.reject(new ServiceError('invalid_argument', 'expected --unmatched'))
  },
}

/** USDT as raw units of 10^-6. */
function rawUsdt(text: string): bigint {
  const [whole = '', part = ''] = text.split('.')
  return BigInt(whole + part.padEnd(6, '0'))
}

/**
 * `deposits assign`: redeems a deposit for an account, once. `--plan` names the plan that it buys,
 * also one with another price. `--dry-run` prints what it would buy, and changes nothing.
 */
export const depositsAssign = optionCommand({
  name: 'deposits assign',
  summary: 'Redeems a deposit for an account.',
  usage: `--signature <s> --wallet <address> --purpose <${PURPOSES.join('|')}> [--plan <name>] [--dry-run]`,
  options: {
    signature: z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/, 'expected a base58 signature'),
    wallet: walletOption,
    purpose: z.enum(PURPOSES, { error: `expected one of ${PURPOSES.join(', ')}` }),
    plan: z.string().optional(),
  },
  flags: ['dry-run'],
  asksFirst: true,
  isRecorded: true,
  async run({ signature, wallet, purpose, plan, 'dry-run': isDry }, parts) {
    if (plan !== undefined && purpose !== 'pro')
      throw new ServiceError('invalid_argument', '--plan: only with --purpose pro')
    const wanted = { signature, account: wallet, purpose, plan }
    if (isDry) {
      const { amount, ...bought } = await previewAssignment(parts, wanted)
      const buys =
        bought.purpose === 'credits'
          ? { credits: bought.credits }
          : { plan: bought.plan.plan, days: bought.plan.days, price_usdt: bought.plan.usdt }
      const amount_usdt = Number(amount) / 1e6
      return { document: { signature, wallet, purpose, amount_usdt, ...buys, dry_run: true } }
    }
    const assigned = await assignDeposit(parts, wanted)
    const document =
      assigned.purpose === 'credits'
        ? { credits: assigned.credits, balance_credits: assigned.balance }
        : { plan: assigned.plan, expires_at: assigned.expiresAt }
    return { document: { signature, wallet, purpose, ...document } }
  },
})
