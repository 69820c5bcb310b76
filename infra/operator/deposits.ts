import { z } from 'zod'
import { assignDeposit } from '../../api/billing/assign.ts'
import { readUnmatched } from '../../api/billing/unmatched.ts'
import { PURPOSES } from '../../pipeline/domain/payment.ts'
import { ServiceError } from '../../pipeline/domain/service-error.ts'
import { type Command, optionCommand, walletOption } from './command.ts'

/** `deposits --unmatched`: payments that have bought nothing yet, each with its reason, the newest first. */
export const deposits: Command = {
  name: 'deposits',
  usage: '--unmatched',
  async run(args, { store, prices }) {
    if (args.length !== 1 || args[0] !== '--unmatched')
      throw new ServiceError('invalid_argument', 'expected --unmatched')
    const items = await readUnmatched(store, prices)
    return {
      document: {
        items: items.map(({ amount, blockTime, ...item }) => ({
          ...item,
          amount_usdt: Number(amount) / 1e6,
          block_time: blockTime === 0 ? null : blockTime,
        })),
      },
    }
  },
}

/** `deposits assign`: redeems a deposit for an account by hand, once. */
export const depositsAssign = optionCommand({
  name: 'deposits assign',
  usage: `--signature <s> --wallet <address> --purpose <${PURPOSES.join('|')}>`,
  options: {
    signature: z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/, 'expected a base58 signature'),
    wallet: walletOption,
    purpose: z.enum(PURPOSES, { error: `expected one of ${PURPOSES.join(', ')}` }),
  },
  async run({ signature, wallet, purpose }, parts) {
    const assigned = await assignDeposit(parts, { signature, account: wallet, purpose })
    const document =
      assigned.purpose === 'credits'
        ? { credits: assigned.credits, balance_credits: assigned.balance }
        : { plan: assigned.plan, expires_at: assigned.expiresAt }
    return { document: { signature, wallet, purpose, ...document } }
  },
})
