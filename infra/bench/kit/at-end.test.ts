import test from 'ava'
import { withEnd } from './at-end.ts'

test('what a bench remembers is done at its end, the last first, also after a failure', async (t) => {
  const { signal } = new AbortController()
  const done: string[] = []
  const work = async (atEnd: (close: () => unknown) => void) => {
    atEnd(() => done.push('first'))
    atEnd(() => done.push('second'))
  }
  await withEnd(signal, work)
  const failing = withEnd(signal, async (atEnd) => {
    await work(atEnd)
    throw new Error('broken')
  })
  await t.throwsAsync(failing, { message: 'broken' })
  t.deepEqual(done, ['second', 'first', 'second', 'first'])
})

test('an interrupted bench ends without its work, and ends what the work starts later', async (t) => {
  const stopping = new AbortController()
  const done: string[] = []
  let goOn = () => {}
  const paused = new Promise<void>((resolve) => {
    goOn = resolve
  })
  let hasEnded: Promise<void> | undefined
  const running = withEnd(stopping.signal, (atEnd) => {
    atEnd(() => done.push('early'))
    hasEnded = paused.then(() => atEnd(() => done.push('late')))
    return hasEnded
  })
  stopping.abort()
  await t.throwsAsync(running, { message: 'interrupted' })
  t.deepEqual(done, ['early'])
  goOn()
  await hasEnded
  t.deepEqual(done, ['early', 'late'])
})
