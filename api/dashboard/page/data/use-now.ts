import { useEffect, useState } from 'preact/hooks'

/** Returns the current time in unix seconds, updated every `intervalSeconds`. */
export function useNow(intervalSeconds: number): number {
  const [now, setNow] = useState(() => Date.now() / 1000)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now() / 1000), intervalSeconds * 1000)
    return () => clearInterval(timer)
  }, [intervalSeconds])
  return now
}
