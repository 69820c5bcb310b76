import { UNIT_COSTS } from './unit-costs.ts'

/** What is asked of the service. */
export interface ServiceLoad {
  readonly wallets: number
  /** Swaps a second, all year. */
  readonly swaps: number
  /** Sockets of the feed. */
  readonly sockets: number
  /** REST answers a second. */
  readonly answers: number
}

/** What a role needs, all its processes together. */
export interface RoleNeed {
  readonly role: 'ingest' | 'workers' | 'api' | 'webhooks' | 'Kafka' | 'ClickHouse' | 'Redis'
  readonly processes: number
  readonly cores: number
  readonly memoryGib: number
  /** TB (10^12 bytes) on all its disks: of ClickHouse after a year. */
  readonly diskTb: number
  /** MB (10^6 bytes) a second, in and out. */
  readonly networkMb: number
  readonly machines: number
}

/** Something that more processes do not help, and what part of it is used. */
export interface Limit {
  readonly what: string
  /** 1: all of it. */
  readonly used: number
}

/** What a load needs. */
export interface Capacity {
  readonly roles: readonly RoleNeed[]
  readonly machines: number
  /** The fullest first. */
  readonly limits: readonly Limit[]
}

/** A machine, as far as it is used. */
const MACHINE = { cores: 8, memoryGib: 64, diskTb: 8, networkMb: 1250 }
/** Part of cores, memory and network, and of disks, that is used at most. */
const USED = 0.5
const DISK_USED = 0.7
/** Fewest machines that survive the loss of one. */
const LEAST_MACHINES = 3
const SLOTS_PER_SECOND = 2.5
const YEAR_SECONDS = 365 * 86_400
const RETENTION_SECONDS = 7 * 86_400
const STATE_RETENTION_SECONDS = 86_400
/** Of each wallet, all of them open. */
const POSITIONS_EACH = 20
const BROKERS = 3
const REPLICAS = 3
const CLICKHOUSE_SERVERS = 2
/** More wallets do not fit in a filter of the stream (docs/operating.md). */
const MOST_FILTERED = 950_000
/** Transactions a second of the whole chain without votes; not measured. */
const CHAIN_TRANSACTIONS = 5000
/** Part of the sockets that takes every trade. The others take those of so many wallets. */
const UNFILTERED = 0.01
const WALLETS_EACH = 100
/** Default of `MAX_CONNECTIONS`, and of `KAFKA_PARTITIONS`. */
const SOCKETS_PER_PROCESS = 10_000
const PARTITIONS = 24

const US = 1e-6
const of = (name: keyof typeof UNIT_COSTS) => UNIT_COSTS[name].value

/**
 * What a load needs by the unit costs. A swap is a transaction with one event. Every wallet trades
 * as often as every other, and all have their books in memory.
 */
export function capacityOf(load: ServiceLoad): Capacity {
  const { wallets, swaps, answers } = load
  const [logBytes, stateBytes] = [swaps * of('logEvent'), swaps * of('stateEvent')]
  const bothBytes = logBytes + stateBytes
  const ingest = ingestOf(load, logBytes)
  const workers = workersOf(load, bothBytes)
  const api = apiOf(load, bothBytes)
  // They follow the log as the API does. What is delivered is not in the model.
  const webhooks = roleOf('webhooks', {
    processes: 2,
    cores: 2 * swaps * of('hookEvent') * US,
    memoryGib: 1,
    diskTb: 0,
    networkMb: (2 * logBytes) / 1e6,
  })
  const keptBytes = logBytes * RETENTION_SECONDS + stateBytes * STATE_RETENTION_SECONDS
  const kafka = roleOf('Kafka', {
    processes: BROKERS,
    cores: swaps * of('brokerEvent') * US * REPLICAS,
    memoryGib: BROKERS * 4,
    diskTb: (keptBytes * REPLICAS) / 1e12,
    // In, to the other replicas, and to every API; the log also to workers and webhooks.
    networkMb: (bothBytes * (REPLICAS + api.processes) + logBytes * 3) / 1e6,
  })
  const storedBytes = of('storedEvent') + of('storedLinks') + of('storedKept') + of('storedRollup')
  const insertsPerSecond = SLOTS_PER_SECOND * workers.processes * of('insertsPerSlot')
  const clickhouse = roleOf('ClickHouse', {
    processes: CLICKHOUSE_SERVERS,
    cores:
      CLICKHOUSE_SERVERS *
      (swaps * of('storeEvent') * US + (insertsPerSecond * of('insert')) / 1000),
    memoryGib: CLICKHOUSE_SERVERS * 16,
    diskTb: (CLICKHOUSE_SERVERS * swaps * storedBytes * YEAR_SECONDS) / 1e12,
    networkMb: (CLICKHOUSE_SERVERS * swaps * of('entryBytes')) / 1e6,
  })
  const redis = roleOf('Redis', {
    processes: 2,
    cores: (2 * answers) / of('charges'),
    memoryGib: 2,
    diskTb: 0,
    networkMb: 0,
  })
  const roles = [ingest, workers, api, webhooks, kafka, clickhouse, redis]
  const perDisk = MACHINE.diskTb * DISK_USED
  const limits = [
    { what: 'the one thread of ingest', used: ingest.cores },
    { what: 'the threads of workers, one a partition', used: workers.cores / PARTITIONS },
    { what: 'the disk of a Kafka broker', used: kafka.diskTb / BROKERS / perDisk },
    {
      what: 'the disk of a ClickHouse server, after a year',
      used: clickhouse.diskTb / CLICKHOUSE_SERVERS / perDisk,
    },
    {
      what: 'the cores of a ClickHouse server',
      used: clickhouse.cores / CLICKHOUSE_SERVERS / MACHINE.cores,
    },
    {
      what: 'the network of the Kafka brokers',
      used: kafka.networkMb / BROKERS / MACHINE.networkMb,
    },
    { what: 'the thread of Redis', used: answers / of('charges') },
    { what: 'the filter of the stream', used: wallets / MOST_FILTERED },
  ]
  return {
    roles,
    machines: Math.max(
      LEAST_MACHINES,
      Math.ceil(roles.reduce((sum, role) => sum + role.machines, 0)),
    ),
    limits: limits.toSorted((a, b) => b.used - a.used),
  }
}

/** One process of ingest works, the other stands by. */
function ingestOf({ wallets, swaps }: ServiceLoad, logBytes: number): RoleNeed {
  const others = wallets > MOST_FILTERED ? CHAIN_TRANSACTIONS : 0
  return roleOf('ingest', {
    processes: 2,
    cores: (swaps * of('ingestTransaction') + others * of('dropTransaction')) * US,
    memoryGib: 2,
    diskTb: 0,
    networkMb: ((swaps + others) * of('transactionBytes') + logBytes) / 1e6,
  })
}

/** They read the log and write states. */
function workersOf({ wallets, swaps }: ServiceLoad, kafkaBytes: number): RoleNeed {
  const cores = swaps * of('workEvent') * US
  return roleOf('workers', {
    processes: Math.min(PARTITIONS, Math.max(2, Math.ceil(cores / USED))),
    cores,
    memoryGib: (wallets / 100_000) * of('books'),
    diskTb: 0,
    networkMb: (kafkaBytes + swaps * of('entryBytes')) / 1e6,
  })
}

/** Every API process reads the whole log and all states, and has every open position in memory. */
function apiOf({ wallets, swaps, sockets, answers }: ServiceLoad, kafkaBytes: number): RoleNeed {
  const together = sockets * UNFILTERED * swaps
  const alone = sockets * (1 - UNFILTERED) * swaps * Math.min(1, WALLETS_EACH / wallets)
  const served =
    (answers * of('answer') + together * of('deliverTogether') + alone * of('deliverAlone')) * US
  const relay = swaps * of('readEvent') * US
  const processes = Math.max(
    2,
    Math.ceil(sockets / SOCKETS_PER_PROCESS),
    relay < USED ? Math.ceil(served / (USED - relay)) : Number.POSITIVE_INFINITY,
  )
  const sent = (together + alone) * of('tradeBytes') + answers * of('answerBytes')
  return roleOf('api', {
    processes,
    cores: served + processes * relay,
    memoryGib:
      processes * (0.5 + (wallets * POSITIONS_EACH * of('openPosition')) / 2 ** 30) +
      (sockets * of('socketMemory')) / 2 ** 20,
    diskTb: 0,
    networkMb: (sent + processes * kafkaBytes) / 1e6,
  })
}

/** Adds how many machines the role fills with what it needs most of; below 1, a part of one. */
function roleOf(role: RoleNeed['role'], need: Omit<RoleNeed, 'role' | 'machines'>): RoleNeed {
  const machines = Math.max(
    need.cores / MACHINE.cores / USED,
    need.memoryGib / MACHINE.memoryGib / USED,
    need.diskTb / MACHINE.diskTb / DISK_USED,
    need.networkMb / MACHINE.networkMb / USED,
  )
  return { role, ...need, machines }
}

/** Rows of a table of roles: role, processes, cores, GiB, TB, MB a second, machines. */
export function capacityRows({ roles }: Capacity): string[][] {
  const short = (value: number) =>
    value < 10 ? value.toFixed(2) : Math.round(value).toLocaleString('en-US')
  return roles.map(({ role, processes, cores, memoryGib, diskTb, networkMb, machines }) => [
    role,
    `${processes}`,
    ...[cores, memoryGib, diskTb, networkMb, machines].map(short),
  ])
}

/** The fullest limits, as texts. */
export function limitTexts({ limits }: Capacity, count: number): string[] {
  return limits.slice(0, count).map(({ what, used }) => `${what} ${(100 * used).toFixed(0)}%`)
}

/** The load that docs/capacity.md begins with. There are no figures of a service in production. */
const TODAY: ServiceLoad = { wallets: 10_000, swaps: 30, sockets: 1000, answers: 500 }

/** So many times the load of today. */
export function timesToday(times: number): ServiceLoad {
  const { wallets, swaps, sockets, answers } = TODAY
  return {
    wallets: times * wallets,
    swaps: times * swaps,
    sockets: times * sockets,
    answers: times * answers,
  }
}
