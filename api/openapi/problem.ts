import { z } from 'zod'
import { PROBLEMS, type ProblemCode } from '../errors.ts'

const codes = Object.keys(PROBLEMS) as ProblemCode[] // keys of a const object

/** The body of every refusal, `application/problem+json` (RFC 9457, rule D1). */
export const Problem = z
  .strictObject({
    type: z.string().describe('Always `about:blank`: the kind of problem is its status'),
    title: z.string().describe('A sentence for humans'),
    status: z.int().describe('The HTTP status'),
    detail: z.enum(codes).describe('The same as `code`'),
    code: z.enum(codes).describe('Stable code for programs'),
    request_id: z.string().describe('The same as `X-Request-Id`'),
    errors: z
      .array(
        z.strictObject({
          in: z.enum(['query', 'path', 'body']),
          name: z.string(),
          message: z.string(),
        }),
      )
      .min(1)
      .optional()
      .meta({ description: 'Faults of single parameters' }),
  })
  .meta({ id: 'Problem', description: 'Why a request was refused.' })
