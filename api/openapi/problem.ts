import { z } from 'zod'
import { PROBLEMS, type ProblemCode } from '../errors.ts'

const codes = Object.keys(PROBLEMS) as ProblemCode[] // its own keys

/** The body of every refusal, `application/problem+json` (RFC 9457, rule D1). */
export const Problem = z
  .strictObject({
    type: z.string().meta({ description: '`about:blank`: the status says what kind it is' }),
    title: z.string().meta({ description: 'A sentence for people' }),
    status: z.int().meta({ description: 'The HTTP status again' }),
    detail: z.enum(codes).meta({ description: 'The same as `code`' }),
    code: z.enum(codes).meta({ description: 'What programs decide by' }),
    request_id: z.string().meta({ description: 'The same as `X-Request-Id`' }),
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
      .meta({ description: 'What is wrong with which parameters' }),
  })
  .meta({ id: 'Problem', description: 'Why a request was refused.' })
