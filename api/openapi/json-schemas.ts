import { z } from 'zod'

/** A JSON Schema. */
export type JsonSchema = Readonly<Record<string, unknown>>

/**
 * Schemas of one document: those with an `id` stand once under its components, everything else
 * refers to them.
 */
export class JsonSchemas {
  /** By id. */
  readonly components: Record<string, JsonSchema> = {}
  readonly #target: 'draft-2020-12' | 'draft-07'

  /** OpenAPI 3.1 takes draft 2020-12, AsyncAPI 3.0 draft 07. */
  constructor(target: 'draft-2020-12' | 'draft-07') {
    this.#target = target
  }

  /**
   * The schema of what a zod schema gives, or with `input` of what it takes. Inline, or a reference
   * when it has an id.
   */
  of(schema: z.ZodType, io: 'output' | 'input' = 'output'): JsonSchema {
    const { $schema, $defs, definitions, ...rest } = z.toJSONSchema(schema, {
      target: this.#target,
      io,
      // What only code can read, as a cursor, says in its metadata what it is.
      unrepresentable: 'any',
      override: ({ jsonSchema }) => {
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      },
    })
    for (const [id, definition] of Object.entries($defs ?? definitions ?? {}))
      this.components[id] ??= referring(definition)
    return referring(rest)
  }
}

/** The same with references into the document's components. */
function referring(schema: object): JsonSchema {
  return JSON.parse(
    JSON.stringify(schema).replace(/"#\/(\$defs|definitions)\//g, '"#/components/schemas/'),
  )
}
