import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ServiceError } from '../../domain/service-error.ts'
import { makeFolder } from '../../runtime/make-folder.ts'
import type { Store } from '../store.ts'
import type { ExportPlace, WrittenFile } from './export-place.ts'
import { type DaySpan, type ExportQuery, exportSettings } from './export-query.ts'

/** A file under this name is not complete. */
const UNFINISHED = '.unfinished'

/**
 * A folder of this machine. The embedded engine writes into it itself; of a server the answer is
 * written. A file is written under another name, synced, and renamed.
 */
export function createLocalPlace(store: Store, root: string): ExportPlace {
  const guarded = <T>(work: () => Promise<T>) => work().catch((error: unknown) => fail(root, error))

  async function finish(path: string): Promise<void> {
    const file = await open(path + UNFINISHED, 'r+')
    await file.sync().finally(() => file.close())
    await rename(path + UNFINISHED, path)
    const folder = await open(dirname(path), 'r')
    await folder.sync().finally(() => folder.close())
  }

  return {
    prepare: (table) =>
      guarded(async () => {
        const folder = join(root, table)
        makeFolder(folder, 0o755)
        const names = await readdir(folder)
        for (const name of names)
          if (name.endsWith(UNFINISHED)) await rm(join(folder, name), { force: true })
      }),
    read: (name) => guarded(() => orNull(readFile(join(root, name), 'utf8'))),
    replace: (name, text) =>
      guarded(async () => {
        const path = join(root, name)
        const file = await open(path + UNFINISHED, 'w')
        await file.writeFile(text).finally(() => file.close())
        await finish(path)
      }),
    sizeOf: (name) => guarded(async () => (await orNull(stat(join(root, name))))?.size ?? null),
    write: (name, query, day) =>
      guarded(async () => {
        const path = join(root, name)
        const unfinished = path + UNFINISHED
        await rm(unfinished, { force: true })
        const rows = store.download
          ? await downloadTo(unfinished, store.download, query, day)
          : await writeItself(unfinished, store, query, day)
        const written = { rows, ...(await hashOf(unfinished)) }
        await finish(path)
        return written
      }),
  }
}

/** Lets the embedded engine write a file. Returns its number of rows. */
async function writeItself(path: string, store: Store, query: ExportQuery, day: DaySpan) {
  await store.command(
    `INSERT INTO FUNCTION file({path:String}, 'Parquet') ${query.select} ${exportSettings()}`,
    { ...day, path },
  )
  const [row] = await store.query<{ rows: string }>(
    "SELECT count() AS rows FROM file({path:String}, 'Parquet')",
    { path },
    ['rows'],
  )
  return Number(row?.rows)
}

/** Writes the answer of a server to a file. Returns its number of rows. */
async function downloadTo(
  path: string,
  download: NonNullable<Store['download']>,
  query: ExportQuery,
  day: DaySpan,
): Promise<number> {
  const { rows, body } = await download(`${query.select} ${exportSettings()} FORMAT Parquet`, {
    ...day,
  })
  await pipeline(body, createWriteStream(path))
  return rows
}

/** Bytes and SHA-256 of a file. Rejects a file that does not end as Parquet does. */
async function hashOf(path: string): Promise<Omit<WrittenFile, 'rows'>> {
  const hash = createHash('sha256')
  let bytes = 0
  let end = Buffer.alloc(0)
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) {
    hash.update(piece)
    bytes += piece.length
    end = Buffer.concat([end, piece.subarray(-4)]).subarray(-4)
  }
  if (end.toString('latin1') !== 'PAR1')
    throw new ServiceError('unavailable', 'an answer of the store lacks its end')
  return { bytes, sha256: hash.digest('hex') }
}

async function orNull<T>(work: Promise<T>): Promise<T | null> {
  return work.catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  })
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : null
}

/** Explains why the folder cannot be written: an error of this process, or of the engine in it. */
function fail(root: string, error: unknown): never {
  const code = error instanceof ServiceError ? error.context.code : codeOf(error)
  const why = REASONS[String(code)]
  if (why === undefined) throw error
  throw new ServiceError('unavailable', `--to-dir: ${root}: ${why}`, { cause: error })
}

const REFUSED = 'this user may not write there: give it the folder, or name another one'
const FULL = 'the disk is full: make room, and run the same command again'
const CUT_OFF =
  'a file was not written to its end, as on a full disk: make room, and run the same command again'

/** By code of errno(3), and of ClickHouse (ErrorCodes.cpp). */
const REASONS: Readonly<Record<string, string>> = {
  EACCES: REFUSED,
  EPERM: REFUSED,
  EROFS: REFUSED,
  ENOENT: REFUSED,
  ENOTDIR: 'a part of it is a file: name a folder',
  EEXIST: 'a part of it is a file: name a folder',
  EISDIR: 'a folder stands where a file belongs: remove it, or name another folder',
  ENOSPC: FULL,
  EDQUOT: FULL,
  '75': FULL, // cannot write to a file
  '76': REFUSED, // cannot open a file
  '243': FULL,
  '636': CUT_OFF, // a file without its end, which the embedded engine wrote without an error
}
