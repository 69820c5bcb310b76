import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import Router from '@koa/router'
import Koa from 'koa'

/**
 * A bare Koa route that answers every path of a file (`ANSWERS`: path -> body) with its bytes.
 * Prints `url=`.
 */
const answers = new Map(
  Object.entries(JSON.parse(readFileSync(process.env.ANSWERS ?? '', 'utf8'))).map(
    ([path, body]) => [path, Buffer.from(String(body))] as const,
  ),
)
const router = new Router()
router.get('/{*path}', (ctx) => {
  ctx.type = 'application/json'
  ctx.body = answers.get(ctx.url) ?? ''
})
const app = new Koa()
app.use(router.routes())
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`url=http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
