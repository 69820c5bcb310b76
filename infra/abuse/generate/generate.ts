import { addTo } from '../../simulator/memo.ts'
import { createRandom, type Random } from '../../simulator/random.ts'
import type { AbuseCase } from '../case.ts'
import { connectionCases } from './connections.ts'
import { type AsyncApi, casesFromAsyncApi } from './from-asyncapi.ts'
import { casesFromOpenApi, type OpenApi } from './from-openapi.ts'
import { mutatedCases } from './mutated.ts'
import { slowCases } from './slow.ts'

/** The service's documents. */
export interface Documents {
  readonly openApi: OpenApi
  readonly asyncApi: AsyncApi
}

/** Share of each part in percent; bursts and slow cases are additional. */
const SHARES = { requests: 62, feed: 18, connections: 9 }

/**
 * Generates `count` cases from the service's two documents and from knowledge of HTTP, in the order
 * to run them. The same documents, count and seed give the same cases. `isShort` leaves out cases
 * that take longer than ten seconds.
 */
export function generateCases(
  documents: Documents,
  options: { readonly seed: number; readonly count: number; readonly isShort: boolean },
): AbuseCase[] {
  const { seed, count, isShort } = options
  const random = createRandom(seed, 'abuse')
  const slow = isShort ? [] : slowCases()
  const share = (percent: number) => Math.floor(((count - slow.length) * percent) / 100)
  const chosen = [
    ...choose(casesFromOpenApi(documents.openApi), share(SHARES.requests), random),
    ...choose(casesFromAsyncApi(documents.asyncApi), share(SHARES.feed), random),
    ...choose(connectionCases(), share(SHARES.connections), random),
    ...slow,
  ]
  return [...chosen, ...mutatedCases(random, count - chosen.length)]
}

/** Picks `count` cases, round robin over the groups, so that small groups are not left out. */
function choose(cases: readonly AbuseCase[], count: number, random: Random): AbuseCase[] {
  const groups = new Map<string, AbuseCase[]>()
  for (const one of cases) addTo(groups, one.group, one)
  const queues = random.shuffle([...groups.values()].map((group) => random.shuffle(group)))
  const chosen: AbuseCase[] = []
  while (chosen.length < Math.min(count, cases.length))
    for (const queue of queues) {
      const next = queue.pop()
      if (next !== undefined && chosen.length < count) chosen.push(next)
    }
  return chosen
}
