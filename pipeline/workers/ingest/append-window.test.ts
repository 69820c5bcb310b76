import { setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import { createAppendWindow } from './append-window.ts'

test('a full window waits for its oldest append', async (t) => {
  const window = createAppendWindow(2)
  const acknowledge: (() => void)[] = []
  for (let n = 0; n < 2; n++) {
    await window.room()
    window.add({ acknowledged: new Promise((resolve) => acknowledge.push(resolve)) })
  }
  let hasRoom = false
  const room = window.room().then(() => {
    hasRoom = true
  })
  acknowledge[1]?.()
  await nextTurn()
  t.false(hasRoom)
  acknowledge[0]?.()
  await room
  await window.empty()
})

test('a failed append is reported by the next wait that meets it', async (t) => {
  const window = createAppendWindow(2)
  window.add({ acknowledged: Promise.reject(new Error('log broken')) })
  await nextTurn()
  await window.room()
  window.add({ acknowledged: Promise.resolve() })
  await t.throwsAsync(window.room(), { message: 'log broken' })
})
