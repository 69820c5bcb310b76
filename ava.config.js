import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism } from 'node:os'

const MEMORY = '/dev/shm/'
const ENOUGH_BYTES = 4e9

/** The environment of tests. On Linux their files are in memory, because their stores sync often. */
function environment() {
  if (!existsSync(MEMORY)) return {}
  const { bavail, bsize } = statfsSync(MEMORY)
  if (bavail * bsize < ENOUGH_BYTES) return {}
  const folder = mkdtempSync(`${MEMORY}tests-`)
  chmodSync(folder, 0o711) // users of servers that tests start can enter it
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  process.once('SIGTERM', () => process.exit(143)) // else the folder would stay in memory
  return { TMPDIR: folder }
}

/** Files that take longest begin first, so that the end of a run waits for none of them. */
const LONGEST = [
  'fold/fold.test.js',
  'whole-service/start.test.js',
  'whole-service/recorded.test.js',
]
const isLong = (file) => LONGEST.some((end) => file.endsWith(end))

// biome-ignore lint/style/noDefaultExport: AVA reads the default export.
export default {
  files: ['dist/**/*.test.js'],
  // Without any result for so long, AVA stops what runs and names it. No test sets its own limit
  // with `t.timeout`: AVA 7.0.0 does not watch at all once one began late, and a test that it failed
  // goes on.
  timeout: '10m',
  workerThreads: false,
  // Tests of processes wait most of the time.
  concurrency: availableParallelism() + 2,
  sortTestFiles: (a, b) => Number(isLong(b)) - Number(isLong(a)) || a.localeCompare(b),
  environmentVariables: environment(),
}
