import test from 'ava'
import { createLoadShedder } from './load-shedder.ts'

/** A load shedder with a limit of 50 ms on a clock that only its turns move. */
function startTurns(limitMs = 50) {
  let now = 0
  let end = () => {}
  const shedder = createLoadShedder({
    limitMs,
    now: () => now,
    atEndOfTurn: (endTurn) => {
      end = endTurn
    },
  })
  return {
    /** Runs a turn of requests that take some milliseconds if admitted; returns how many were. */
    turn(requests: number, msEach = 1): number {
      let admitted = 0
      for (let count = 0; count < requests; count++) {
        if (!shedder.admits()) continue
        admitted++
        now += msEach
      }
      end()
      return admitted
    },
    wait(ms: number) {
      now += ms
    },
  }
}

/** Brings the shedder into the state in which it sheds. */
function overload(turns: ReturnType<typeof startTurns>): void {
  for (let count = 0; count < 4; count++) turns.turn(200)
}

test('once turns are too long for half a second, each admits what begins within the limit', (t) => {
  const { turn } = startTurns()
  // The first turn ends after 200 ms. The fourth begins 400 ms later and admits 100 ms more.
  t.deepEqual(
    Array.from({ length: 6 }, () => turn(200)),
    [200, 200, 200, 100, 51, 51],
  )
})

test('a single stall, however long, sheds nothing of itself and of what it leaves behind', (t) => {
  const { turn } = startTurns()
  t.is(turn(1, 5000), 1)
  const backlog = [150, 75, 37, 18]
  t.deepEqual(
    backlog.map((requests) => turn(requests)),
    backlog,
  )
  // Longer than half a second after the stall, but the event loop has caught up meanwhile.
  t.is(turn(400), 400)
})

test('shedding stops with a turn of half the limit, not with a longer one', (t) => {
  const turns = startTurns()
  overload(turns)
  t.deepEqual(
    [26, 200, 25, 200].map((requests) => turns.turn(requests)),
    [26, 51, 25, 200],
  )
})

test('shedding stops after half a second without a request', (t) => {
  const turns = startTurns()
  overload(turns)
  turns.wait(500)
  t.is(turns.turn(200), 51)
  turns.wait(501)
  t.is(turns.turn(200), 200)
})

test('a limit of 0 sheds nothing', (t) => {
  const turns = startTurns(0)
  overload(turns)
  t.is(turns.turn(200), 200)
})
