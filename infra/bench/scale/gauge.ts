/** A process that does not tell its progress for so long has failed. */
const ANSWER_MS = 60_000

/** Returns the value of a gauge of a process by its metrics port; 0 if it has none. */
export async function readGauge(port: number, name: string): Promise<number> {
  const metrics = await readText(`http://127.0.0.1:${port}/metrics`)
  return Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)`, 'm').exec(metrics)?.[1] ?? 0)
}

/** Returns the body of an answer. */
export async function readText(url: string): Promise<string> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) })
  return answer.text()
}
