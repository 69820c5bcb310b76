import type { CallToolResult, Tool as Declaration } from '@modelcontextprotocol/sdk/types.js'
import { type ApiError, problem } from '../errors.ts'
import type { ApiMiddleware } from '../middleware/context.ts'

/** Context of the HTTP request that carries a tool call. */
export type CallContext = Parameters<ApiMiddleware>[0]

/** A tool: what agents read about it, and what a call of it does. */
export interface Tool {
  readonly declaration: Declaration
  /**
   * Runs one call. `given` are the arguments as they came. Sets `cost` and `left` of the request.
   * Rejects with the refusal of the call.
   */
  run(ctx: CallContext, given: Arguments): Promise<ToolAnswer>
}

/** Arguments of a call by name, as they came. */
export type Arguments = Readonly<Record<string, unknown>>

/** What a tool answers: a JSON object as text, and what it costs. */
export interface ToolAnswer {
  readonly text: string
  readonly cost: number
  /** Credits left afterwards, if known. */
  readonly left: number | undefined
  /** Header fields that REST would send beside the body, as members of `_meta`. */
  readonly meta?: Readonly<Record<string, string>>
}

/** Hints of a tool: it only reads, and only what this service has. */
export function readOnly(title: string, isIdempotent: boolean): Declaration['annotations'] {
  return {
    title,
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: isIdempotent,
    openWorldHint: false,
  }
}

/** Returns the result of a call that was answered, with its cost in `_meta`. */
export function answered(answer: ToolAnswer, requestId: string): CallToolResult {
  const { text, cost, left, meta } = answer
  return {
    content: [{ type: 'text', text }],
    structuredContent: JSON.parse(text),
    _meta: { ...creditsMeta(cost, left), request_id: requestId, ...meta },
  }
}

/**
 * Returns the result of a call that was refused: the problem document that REST sends, as text. Its
 * `_meta` has the code, and when to retry if that helps.
 */
export function refused(
  refusal: ApiError,
  requestId: string,
  left: number | undefined,
): CallToolResult {
  const retryAfter = refusal.headers['Retry-After']
  return {
    isError: true,
    content: [{ type: 'text', text: JSON.stringify(problem(refusal, requestId)) }],
    _meta: {
      code: refusal.code,
      ...creditsMeta(0, left),
      ...(retryAfter !== undefined && { retry_after_seconds: Number(retryAfter) }),
      request_id: requestId,
    },
  }
}

function creditsMeta(cost: number, left: number | undefined) {
  return { credits_cost: cost, ...(left !== undefined && { credits_remaining: left }) }
}
