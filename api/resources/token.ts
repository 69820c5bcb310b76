import { z } from 'zod'
import type { Address } from '../../pipeline/domain/address.ts'
import type { Store } from '../../pipeline/store/store.ts'
import { readMintHolders } from '../../pipeline/store/tables/positions.ts'
import { readSolPrices } from '../../pipeline/store/tables/sol-prices.ts'
import { NO_ACTIVITY, readTokenActivity } from '../../pipeline/store/tables/token-activity.ts'
import { readTokenPrices } from '../../pipeline/store/tables/token-prices.ts'
import { TokenItem, type TokenParts, tokenItem } from '../items/token.ts'
import { NO_FACTS } from '../rows/known-facts.ts'
import type { StoredSlot } from '../state-reader.ts'
import { mintParameter } from './parameters.ts'
import { type ResourceDeps, type ResourceDocs, resource } from './resource.ts'

const DOCS: ResourceDocs<TokenItem> = {
  tag: 'Tokens',
  summary: 'A token: facts, price, holders and activity',
  description: [
    'The price is that of the pool of a token on the watchlist, else that of the newest swap of a tracked wallet within 24 hours; `price_source` says which,',
    'and `price_age_seconds` how old it is. A valid address that nobody traded has nulls and zeros.',
  ].join(' '),
  links: {
    swaps: {
      operationId: 'getTokensMintSwaps',
      description: 'Swaps of tracked wallets on the token',
      parameters: { mint: '$request.path.mint' },
    },
  },
  example: {
    token: {
      address: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263',
      decimals: 5,
      symbol: 'Bonk',
      name: 'Bonk',
      supply: '8799438297352713000',
    },
    as_of: 1_790_000_000,
    price_sol: 1.2e-7,
    price_usd: 0.000018,
    price_source: 'pool',
    price_age_seconds: 10,
    market_cap_usd: 1_583_898_893.52,
    holders: 7,
    holders_pct: 0.12,
    first_buy_at: 1_789_000_000,
    last_1h: { buys: 3, sells: 1, volume_sol: 12.5, wallets: 3 },
    last_24h: { buys: 40, sells: 22, volume_sol: 310.25, wallets: 9 },
  },
}

/** `GET /tokens/{mint}` (rule L9). */
export function token(deps: ResourceDeps & { readonly solPriceMaxAgeSeconds: number }) {
  return resource({
    path: '/tokens/:mint',
    price: 3,
    docs: DOCS,
    params: z.object({ mint: mintParameter }),
    answer: TokenItem,
    isHot: () => true,
    async handle({ params: { mint } }, { store }) {
      const stored = deps.position.stored()
      const now = stored?.blockTime ?? null
      const read = stored === null ? UNKNOWN : await readParts(store, deps, mint, stored)
      return { body: tokenItem({ ...read, mint, now, isSalted: deps.perturb !== null }) }
    },
  })
}

type ReadParts = Omit<TokenParts, 'mint' | 'now' | 'isSalted'>

const UNKNOWN: ReadParts = {
  facts: NO_FACTS,
  holders: null,
  activity: NO_ACTIVITY,
  price: null,
  solUsdE9: null,
}

async function readParts(
  store: Store,
  deps: Parameters<typeof token>[0],
  mint: Address,
  { slot, blockTime: now }: StoredSlot,
): Promise<ReadParts> {
  const { position, knownFacts, perturb, solPriceMaxAgeSeconds } = deps
  const of = { stored: slot, wasRedecoded: position.wasRedecoded(), perturb }
  const mints = [mint]
  const [facts, holders, activity, prices, solPrices] = await Promise.all([
    knownFacts.of(store, mints),
    readMintHolders(store, mint),
    readTokenActivity(store, { ...of, mint, now }),
    readTokenPrices(store, { ...of, mints, wallet: null, times: [now], solPriceMaxAgeSeconds }),
    readSolPrices(store, [now], solPriceMaxAgeSeconds),
  ])
  prices.moveTo(now)
  return {
    facts: facts.get(mint) ?? NO_FACTS,
    holders,
    activity,
    price: prices.priceOf(mint),
    solUsdE9: solPrices.get(now) ?? null,
  }
}
