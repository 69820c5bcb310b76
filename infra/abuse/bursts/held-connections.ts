import { setTimeout as sleep } from 'node:timers/promises'
import { request } from '../case.ts'
import { openConnection, runHttpCase } from '../wire.ts'
import { type Burst, scaled } from './burst.ts'

/** Upgrades that the client never closes. */
export const upgrades: Burst = {
  name: 'upgrades',
  title: 'GET /healthz with Connection: Upgrade, Upgrade: foo; the client never closes',
  async run(world, scale) {
    const count = scaled(200, scale)
    const address = world.address()
    const act = { via: 'http', pieces: [holdingUpgrade()], waitsForClose: true } as const
    const expect = { statuses: [200] }
    const seen = await Promise.all(
      Array.from({ length: count }, () =>
        runHttpCase(
          { act, expect, limitMs: 6000 },
          world.target,
          address,
          world.attackers[0] ?? NOBODY,
        ),
      ),
    )
    const open = seen.filter(({ isTimedOut }) => isTimedOut).length
    const errors = seen.filter(({ answers }) => (answers[0]?.status ?? 0) >= 500).length
    return {
      faults: open > 0 ? [`${open} of ${count} connections still open after 6 s`] : [],
      serverErrors: errors,
      slowestMs: Math.max(...seen.map(({ ms }) => ms)),
      note: `${open} of ${count} still open after 6 s`,
    }
  },
}

const NOBODY = { key: '', token: '', cursor: '', mint: '' }

/** A request on a connection that the service must close by itself. */
export function holdingUpgrade(): string {
  return request('GET /healthz', {
    keepsAlive: true,
    fields: ['Connection: Upgrade', 'Upgrade: foo'],
  })
}

/** Clients that never read. */
export const readers: Burst = {
  name: 'no readers',
  isBeside: true,
  title: '20 clients that ask for much and never read; half of them send a blank line each second',
  async run(world, scale) {
    const requests = request('GET /openapi.json', { keepsAlive: true }).repeat(300)
    const limitMs = scale < 1 ? 20_000 : 90_000
    const address = world.address()
    const sockets = Array.from({ length: 20 }, () => {
      const socket = openConnection(world.target, address, true)
      socket.pause().write(requests)
      return socket
    })
    const talking = sockets.slice(10)
    const open_ = () => sockets.filter((socket) => !socket.destroyed)
    // Only a write shows that the server has reset the connection.
    const speak = (some: typeof sockets) => {
      for (const socket of some) if (!socket.destroyed) socket.write('\r\n')
    }
    const started = performance.now()
    while (performance.now() - started < limitMs) {
      await sleep(1000)
      speak(talking)
    }
    for (let again = 0; again < 3; again++) {
      speak(sockets)
      await sleep(300)
    }
    const talk = talking.filter((socket) => !socket.destroyed).length
    const left = open_().length
    for (const socket of sockets) socket.destroy()
    const said = `after ${limitMs / 1000} s ${left - talk} of 10 silent clients and ${talk} of 10 others are connected`
    return {
      faults: left > 0 && scale >= 1 ? [said] : [],
      serverErrors: 0,
      slowestMs: performance.now() - started,
      note: said,
    }
  },
}

/** Idle connections of one address. */
export const connections: Burst = {
  name: 'idle connections',
  title: '600 idle connections from one address',
  async run(world, scale) {
    const address = world.address()
    const sockets = Array.from({ length: scaled(600, Math.max(scale, 0.6)) }, () =>
      openConnection(world.target, address),
    )
    await sleep(3000)
    const open_ = sockets.filter((socket) => !socket.destroyed).length
    for (const socket of sockets) socket.destroy()
    return {
      faults: open_ > 256 ? [`${open_} connections of one address are open`] : [],
      serverErrors: 0,
      slowestMs: 0,
      note: `${open_} of ${sockets.length} open`,
    }
  },
}
