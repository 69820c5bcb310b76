import type { Role } from '../../pipeline/config.ts'
import { REPLICA_FAULTS, type ReplicaFault } from '../servers/replica-faults.ts'
import type { NodeName } from '../servers/state.ts'
import { createRandom, type Random } from '../simulator/random.ts'
import { RELAY_FAULTS, type RelayFault } from './flaky-relay.ts'

/**
 * A process of the service: `all` is the one process of an embedded deployment. On a cluster there
 * are two of each role.
 */
export type DeployedPart = Role | 'all' | `${Role}-2`

/** Whether a process follows the stream, or may: of two ingests one leads. */
export function follows(part: DeployedPart): boolean {
  return ['ingest', 'all'].includes(roleOf(part))
}

/** Returns the role of a process; `all` has every one. */
export function roleOf(part: DeployedPart): Role | 'all' {
  return part.replace('-2', '') as Role | 'all' // by the names above
}

/** One action on the service, at a slot of the market counted from its beginning. */
export type ScriptStep = {
  readonly at: number
  /**
   * Whether to wait until storage has caught up, so that the action hits a service at work, not one
   * that is starting.
   */
  readonly caughtUp?: boolean
} /** `upgrade`: replaces it by one of `next-build.ts`; `roll back`: by one of this build again. */ & (
  | {
      readonly act: 'kill' | 'stop' | 'suspend' | 'start' | 'upgrade' | 'roll back'
      readonly part: DeployedPart
    }
  /**
   * `lose`: kills a broker and removes its data. `fill`: fills the file system of its data; `free`:
   * frees it, and starts the server if it ended.
   */
  | {
      readonly act: 'kill' | 'stop' | 'suspend' | 'lose' | 'start' | 'fill' | 'free'
      readonly server: NodeName
    }
  /** Sets a fault of a ClickHouse replica (`infra/servers/fault-proxy.ts`), or ends it. */
  | {
      readonly act: 'fault' | 'mend'
      readonly replica: ReplicaNumber
      readonly fault: ReplicaFault
    }
  /** Sets a fault of the way to a Yellowstone server (`flaky-relay.ts`), or ends it. */
  | {
      readonly act: 'disturb' | 'clear'
      readonly endpoint: EndpointNumber
      readonly how: RelayFault
    }
  /** Asks the Sentinels of Redis for another master. */
  | { readonly act: 'fail over' }
  /** Sets the clock of a process forward or back by so many hours, or (0) right again. */
  | { readonly act: 'clock'; readonly part: DeployedPart; readonly hours: number }
  /** Cuts every stream. */
  | { readonly act: 'cut' }
  /** Adds a wallet to the file and sends SIGHUP. */
  | { readonly act: 'add wallet' }
  | { readonly act: 'operator'; readonly args: readonly string[] }
)

/** A ClickHouse server of a cluster, counted from 0. */
export type ReplicaNumber = 0 | 1

/** One of the two Yellowstone servers that a cluster follows, counted from 0. */
export type EndpointNumber = 0 | 1

/** Settings of a script. */
export interface ScriptOptions {
  readonly seed: number
  /** Number of slots that the market runs for. */
  readonly slots: number
  readonly parts: readonly DeployedPart[]
  /** Servers that the run may stop; of a cluster, nodes. */
  readonly servers: readonly NodeName[]
  /**
   * Whether there are two processes of each role and clusters of servers. Then one node of each at
   * most is away at a time.
   */
  readonly isCluster: boolean
  /** Commands that an operator may give. */
  readonly commands: readonly (readonly string[])[]
  /** Slots that the stream can replay; the lengths of outages depend on it. */
  readonly replaySlots: number
  /** Whether an outage may be longer than what the service fetches at once (3,000 slots). */
  readonly longAbsence: boolean
  readonly addsWallet: boolean
  readonly actions: keyof typeof SPACINGS
}

/** Slots without trouble at the beginning. */
const CALM = 40
/**
 * `first`: slot of the first action after the first restart. `least` and `most`: slots between two.
 * `dealt`: number of cards that the shortest run uses; each seed starts this far after the previous
 * one in the deck.
 */
const SPACINGS = {
  dense: { first: 2 * CALM, least: 20, most: 45, dealt: 3 },
  /**
   * Breaks open and heal between actions: a restart compares 512 slots with RPC, and so leaves no
   * break in them (rule K2).
   */
  sparse: { first: 400, least: 700, most: 200, dealt: 1 },
  /** About forty a day. */
  rare: { first: 3000, least: 3000, most: 5000, dealt: 3 },
}

/** The actions of a run, in order: a function of the options alone. */
export function createScript(options: ScriptOptions): ScriptStep[] {
  const { seed, slots, actions } = options
  const { first: firstAt, least, most, dealt: dealtEach } = SPACINGS[actions]
  const random = createRandom(seed, 'script')
  const steps: ScriptStep[] = []
  let longAbsence = options.longAbsence
  let addsWallet = options.addsWallet
  let dealt = 0
  // The first restart looks back and finds what happened before the stream began, so that the truth
  // begins with the chain. One of two ingests leads.
  for (const [place, part] of options.parts.filter(follows).entries()) {
    steps.push({ at: CALM + place, act: 'kill', part, caughtUp: true })
    steps.push({ at: CALM + place, act: 'start', part })
  }
  for (let at = firstAt; at < slots; at += least + random.below(most)) {
    const absence = longAbsence && at > slots / 3
    if (absence) longAbsence = false
    if (addsWallet && at > slots / 4) {
      addsWallet = false
      steps.push({ at, act: 'add wallet', caughtUp: true })
    } else {
      const caughtUp = random.chance(0.6)
      const cards = deck(random, options)
      const card = cards[(dealtEach * seed + dealt) % cards.length] ?? { act: 'cut' as const }
      dealt += 1
      const [first, ...more] = disturbance(options, random, at, card, absence)
      if (first) steps.push({ ...first, caughtUp }, ...more)
    }
  }
  return ordered(steps, options.isCluster)
}

/** Length of an outage in slots. */
function absence(random: Random, { replaySlots }: ScriptOptions): number {
  if (random.chance(0.5)) return 0
  return random.chance(0.7) ? 1 + random.below(30) : replaySlots + random.below(replaySlots)
}

function disturbance(
  options: ScriptOptions,
  random: Random,
  at: number,
  card: Card,
  isLong: boolean,
): readonly ScriptStep[] {
  const { parts } = options
  const goesFor = (slots: number) => at + slots
  if (isLong) {
    const part = parts.includes('ingest') ? 'ingest' : 'all'
    return [
      { at, act: 'kill', part },
      { at: goesFor(3100 + random.below(400)), act: 'start', part },
    ]
  }
  if (card.act === 'operator' || card.act === 'cut' || card.act === 'fail over')
    return [{ at, ...card }]
  const until = (slots: number) => at + 1 + random.below(slots)
  if (card.act === 'fault')
    return [
      { at, ...card },
      { ...card, at: until(40), act: 'mend' },
    ]
  if (card.act === 'clock')
    return [
      { at, ...card },
      { ...card, at: until(60), hours: 0 },
    ]
  if (card.act === 'disturb')
    return [
      { at, ...card },
      { ...card, at: until(60), act: 'clear' },
    ]
  if (card.act === 'upgrade')
    return [
      { at, ...card },
      { ...card, at: until(80), act: 'roll back' },
    ]
  if (card.act === 'fill')
    return [
      { at, ...card },
      { ...card, at: until(40), act: 'free' },
    ]
  if ('server' in card)
    return [
      { at, ...card },
      { ...card, at: goesFor(random.below(40)), act: 'start' },
    ]
  return [
    { at, ...card },
    { ...card, at: goesFor(absence(random, options)), act: 'start' },
  ]
}

type Card =
  | { readonly act: 'kill' | 'stop' | 'suspend' | 'upgrade'; readonly part: DeployedPart }
  | { readonly act: 'kill' | 'stop' | 'suspend' | 'lose' | 'fill'; readonly server: NodeName }
  | { readonly act: 'disturb'; readonly endpoint: EndpointNumber; readonly how: RelayFault }
  | { readonly act: 'fault'; readonly replica: ReplicaNumber; readonly fault: ReplicaFault }
  | { readonly act: 'cut' }
  | { readonly act: 'fail over' }
  | { readonly act: 'clock'; readonly part: DeployedPart; readonly hours: number }
  | { readonly act: 'operator'; readonly args: readonly string[] }

/**
 * One action of every kind, in an order that gives each kind to short runs of consecutive seeds.
 */
function deck(random: Random, options: ScriptOptions): Card[] {
  const { parts, servers, commands, isCluster } = options
  const stopped: Card =
    servers.length > 0 && random.chance(0.3)
      ? { act: 'stop', server: random.pick(servers) }
      : { act: 'stop', part: random.pick(parts) }
  const piles: Card[][] = [
    parts.map((part) => ({ act: 'kill', part })),
    servers.map((server) => ({ act: 'kill', server })),
    commands.map((args) => ({ act: 'operator', args })),
    [{ act: 'cut' }, stopped],
    ...(isCluster ? [clusterCards(random, parts, servers)] : []),
  ]
  return mixed(piles)
}

/** The first card of each pile, then the second of each, and so on. */
function mixed(piles: readonly (readonly Card[])[]): Card[] {
  const longest = Math.max(...piles.map((pile) => pile.length))
  return Array.from({ length: longest }, (_, place) =>
    piles.flatMap((pile) => pile.slice(place, place + 1)),
  ).flat()
}

/** Hours: one, as a server with the wrong time zone has it, and those of ten days. */
export const CLOCK_STEPS = [1, -1, 240, -240]

/**
 * What only a cluster goes on through: one of several that is suspended, faulty or replaced, or
 * has lost its data; another master; and wrong clocks.
 */
function clusterCards(
  random: Random,
  parts: readonly DeployedPart[],
  servers: readonly NodeName[],
): Card[] {
  const suspended = [
    ...parts.map((part): Card => ({ act: 'suspend', part })),
    ...servers.map((server): Card => ({ act: 'suspend', server })),
  ]
  const faults = REPLICA_FAULTS.map((fault): Card => {
    const replica = random.chance(0.5) ? 0 : 1
    return { act: 'fault', replica, fault }
  })
  const clocks = CLOCK_STEPS.map(
    (hours): Card => ({ act: 'clock', part: random.pick(parts), hours }),
  )
  const full = servers.map((server): Card => ({ act: 'fill', server }))
  const brokers = servers.filter((server) => server.startsWith('kafka'))
  const lost = brokers.map((server): Card => ({ act: 'lose', server }))
  const upgrades = parts.map((part): Card => ({ act: 'upgrade', part }))
  const disturbed = RELAY_FAULTS.map((how): Card => {
    const endpoint = random.chance(0.5) ? 0 : 1
    return { act: 'disturb', endpoint, how }
  })
  return mixed([
    [{ act: 'fail over' }, ...clocks],
    suspended,
    faults,
    full,
    upgrades,
    [...lost, ...disturbed],
  ])
}

/** Acts that end what the step before them has begun. */
const ENDS: ReadonlySet<ScriptStep['act']> = new Set([
  'start',
  'mend',
  'free',
  'clear',
  'roll back',
])

/** Whether a step ends what another one has begun. */
export function isEnd(step: ScriptStep): boolean {
  return ENDS.has(step.act) || (step.act === 'clock' && step.hours === 0)
}

/**
 * Orders steps by slot. Of overlapping outages of one process or server, only the first stays; on a
 * cluster, of those of one role or of the nodes of one server.
 */
function ordered(steps: readonly ScriptStep[], isCluster: boolean): ScriptStep[] {
  const away = new Map<string, number>()
  const nameOf = (step: ScriptStep) => {
    const name = thingOf(step)
    return isCluster ? (name?.replace(/-[0-9]$/, '') ?? null) : name
  }
  const kept: ScriptStep[] = []
  for (let place = 0; place < steps.length; place += 1) {
    const step = steps[place]
    if (step === undefined || ENDS.has(step.act)) continue
    const name = nameOf(step)
    const back = steps[place + 1]
    if (name === null || back === undefined || !ENDS.has(back.act)) {
      kept.push(step)
      continue
    }
    if (step.at <= (away.get(name) ?? -1)) continue
    away.set(name, back.at)
    kept.push(step, back)
  }
  return kept
    .map((step, place) => ({ step, place }))
    .sort((a, b) => a.step.at - b.step.at || a.place - b.place)
    .map(({ step }) => step)
}

function thingOf(step: ScriptStep): string | null {
  if (step.act === 'clock') return null // a process with a wrong clock may be killed too
  if ('part' in step) return step.part
  if ('replica' in step) return `clickhouse-${step.replica + 1}`
  if ('endpoint' in step) return `endpoint-${step.endpoint + 1}`
  return 'server' in step ? step.server : null
}

/** A step in words, without the number of the process or server: `kill -9 kafka`. */
export function kindOf(step: ScriptStep): string {
  return describeStep(step).replace(/([a-z])-[0-9]\b/, '$1')
}

/** A step in words. */
export function describeStep(step: ScriptStep): string {
  if (step.act === 'operator') return `operator ${step.args.join(' ')}`
  if (step.act === 'fault' || step.act === 'mend')
    return `${step.act === 'fault' ? '' : 'end of '}${step.fault.title}, ${thingOf(step)}`
  if (step.act === 'fail over') return 'another master of Redis'
  if (step.act === 'clock')
    return step.hours === 0
      ? `${step.part} has the right time again`
      : `the clock of ${step.part} is ${Math.abs(step.hours)} hours ${step.hours > 0 ? 'fast' : 'slow'}`
  if (step.act === 'disturb' || step.act === 'clear')
    return `${thingOf(step)} ${step.how === 'hang' ? 'hangs' : 'is slow'}${step.act === 'clear' ? ' no longer' : ''}`
  const how = {
    kill: 'kill -9',
    stop: 'stop',
    suspend: 'suspend',
    start: 'start',
    upgrade: 'upgrade',
    'roll back': 'roll back',
    lose: 'remove the data of',
    fill: 'fill the disk of',
    free: 'free the disk of',
  } as const
  if ('part' in step) return `${how[step.act]} ${step.part === 'all' ? 'the service' : step.part}`
  if ('server' in step) return `${how[step.act]} ${step.server}`
  return step.act === 'cut' ? 'cut every stream' : 'a wallet more, SIGHUP'
}
