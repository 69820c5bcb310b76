import { startFaultProxy } from './fault-proxy.ts'

// The proxy as a process: `node fault-proxy-process.js` with the ports of both servers, and then
// its own two. It ends with a signal.
const [first, second, ...own] = process.argv.slice(2).map(Number)
await startFaultProxy(
  [`http://127.0.0.1:${first}`, `http://127.0.0.1:${second}`],
  own as [number, number], // `clickhouse.ts` passes four ports
)
