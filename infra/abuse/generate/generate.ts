import { createRandom, type Random } from '../../simulator/random.ts'
import type { AbuseCase } from '../case.ts'
import { connectionCases } from './connections.ts'
import { type AsyncApi, casesFromAsyncApi } from './from-asyncapi.ts'
import { casesFromOpenApi, type OpenApi } from './from-openapi.ts'
import { mutatedCases } from './mutated.ts'
import { slowCases } from './slow.ts'

/** What the service says of itself. */
export interface Documents {
  readonly openApi: OpenApi
  readonly asyncApi: AsyncApi
}

/** The parts of a run in percent; bursts and slow cases come on top of them. */
const SHARES = { requests: 62, feed: 18, connections: 9 }

/**
 * `count` cases from the service's two documents and from what is known of HTTP, in the order to
 * run them. The same documents, count and seed give the same cases. `isShort` leaves out those that
 * take longer than ten seconds.
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

/**
 * So many of the cases, or all: one of each group in turn, so that none is left out while there is
 * room.
 */
function choose(cases: readonly AbuseCase[], count: number, random: Random): AbuseCase[] {
  const groups = new Map<string, AbuseCase[]>()
  for (const one of cases) groups.set(one.group, [...(groups.get(one.group) ?? []), one])
  const queues = random.shuffle([...groups.values()].map((group) => random.shuffle(group)))
  const chosen: AbuseCase[] = []
  while (chosen.length < Math.min(count, cases.length))
    for (const queue of queues) {
      const next = queue.pop()
      if (next !== undefined && chosen.length < count) chosen.push(next)
    }
  return chosen
}
