import { IncomingMessage, ServerResponse } from 'node:http'
import compose from 'koa-compose'
import type { KeyScope } from '../accounts/named-keys.ts'
import type { ApiMiddleware } from '../middleware/context.ts'
import { completeSchema, JsonSchemas } from '../openapi/json-schemas.ts'
import { methodOf, parametersOf, pathOf, priceText } from '../openapi/openapi.ts'
import type { Resource } from '../resources/resource.ts'
import { type Arguments, type CallContext, readOnly, type Tool, type ToolAnswer } from './tool.ts'
import { requestOf } from './tool-arguments.ts'

/** A resource with a price, and the steps that answer one request of it. */
export interface PricedResource {
  readonly resource: Resource
  readonly price: number
  /** Validate, charge and answer, as the route of the resource does. */
  readonly steps: readonly ApiMiddleware[]
}

/**
 * Returns a tool for each resource with a price. A call runs the steps of the resource on a context
 * of its own, so that it is validated, charged, cached and answered exactly as over REST.
 * `requireScope` refuses a key without the scope of a tool.
 */
export function resourceTools(
  priced: readonly PricedResource[],
  requireScope: (ctx: CallContext, scope: KeyScope) => void,
): readonly Tool[] {
  return priced.map(({ resource, price, steps }) => {
    const run = compose([...steps])
    return {
      declaration: declarationOf(resource, price),
      async run(ctx, given) {
        if (price > 0) requireScope(ctx, 'read')
        return answerOf(ctx, resource, run, given)
      },
    }
  })
}

async function answerOf(
  ctx: CallContext,
  resource: Resource,
  run: ReturnType<typeof compose<CallContext>>,
  given: Arguments,
): Promise<ToolAnswer> {
  const { url, params } = requestOf(resource, given)
  const request = new IncomingMessage(ctx.req.socket)
  request.method = 'GET'
  request.url = url
  const response = new ServerResponse(request)
  const inner: CallContext = ctx.app.createContext(request, response) as never // of the same app
  inner.params = params
  inner.state = { ...ctx.state, resource: resource.path }
  try {
    await run(inner)
    const { cost, left } = inner.state
    const head = response.getHeader('X-Head-Cursor')
    return {
      text: String(inner.body),
      cost,
      left,
      ...(typeof head === 'string' && { meta: { head_cursor: head } }),
    }
  } finally {
    ctx.state.cost = inner.state.cost
    if (inner.state.left !== undefined) ctx.state.left = inner.state.left
    response.emit('close') // releases buffers that belong to a read model
  }
}

function declarationOf(resource: Resource, price: number): Tool['declaration'] {
  const { docs, params, query, answer } = resource
  const cost = price === 0 ? 'Free.' : `Costs ${priceText(price)} a call.`
  return {
    name: toolNameOf(resource),
    title: docs.summary,
    description: `${docs.summary}. ${docs.description}\n\n${cost} Answers what ${methodOf(resource)} ${pathOf(resource)} answers.`,
    inputSchema: inputSchema([
      ...parametersOf('path', params, new JsonSchemas('draft-2020-12')),
      ...parametersOf('query', query, new JsonSchemas('draft-2020-12')),
    ]),
    outputSchema: { ...completeSchema(answer), type: 'object' },
    annotations: readOnly(docs.summary, true),
  }
}

/** Returns the schema of a tool's arguments. */
function inputSchema(
  parameters: ReturnType<typeof parametersOf>,
): Tool['declaration']['inputSchema'] {
  return {
    type: 'object',
    properties: Object.fromEntries(
      parameters.map(({ name, description, schema, example }) => [
        name,
        {
          ...(description !== undefined && { description }),
          ...schema,
          ...(example !== undefined && { examples: [example] }),
        },
      ]),
    ),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  }
}

/**
 * Returns the name of a resource's tool: the one listed here, or for example `get_account` for
 * `/account`.
 */
function toolNameOf({ path }: Pick<Resource, 'path'>): string {
  const words = path.split(/[^a-z:]+/).filter((word) => word !== '' && !word.startsWith(':'))
  return NAMES[path] ?? `get_${words.join('_')}`
}

const NAMES: Readonly<Record<string, string>> = {
  '/wallets': 'list_wallets',
  '/wallets/:alias/metrics': 'get_wallet_metrics',
  '/wallets/holdings': 'list_holdings',
  '/wallets/:alias/holdings': 'get_wallet_holdings',
  '/wallets/:alias/trades': 'list_wallet_trades',
  '/wallets/:alias/positions': 'list_wallet_positions',
  '/wallets/:alias/pnl': 'get_wallet_pnl',
  '/tokens/:mint': 'get_token',
  '/tokens/:mint/swaps': 'list_token_swaps',
  '/tokens/:mint/wallet-aggregates': 'list_token_wallets',
  '/tokens/held': 'list_held_tokens',
  '/trades': 'list_trades',
  '/prices/sol': 'get_sol_price',
  '/search': 'search',
}
