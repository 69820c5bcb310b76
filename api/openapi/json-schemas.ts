import { z } from 'zod'

/** A JSON Schema. */
export type JsonSchema = Readonly<Record<string, unknown>>

/**
 * Collects the schemas of one document. A schema with an `id` is stored once among the components,
 * and referenced everywhere else.
 */
export class JsonSchemas {
  /** Schemas by id. */
  readonly components: Record<string, JsonSchema> = {}
  readonly #target: 'draft-2020-12' | 'draft-07'

  /** OpenAPI 3.1 uses draft 2020-12, AsyncAPI 3.0 draft 07. */
  constructor(target: 'draft-2020-12' | 'draft-07') {
    this.#target = target
  }

  /**
   * Returns the JSON Schema of what a zod schema outputs, or accepts if `io` is `input`: inline, or
   * a reference if the schema has an id.
   */
  of(schema: z.ZodType, io: 'output' | 'input' = 'output'): JsonSchema {
    const { $schema, $defs, definitions, ...rest } = z.toJSONSchema(schema, {
      target: this.#target,
      io,
      // A schema that only code can check, such as a cursor, describes itself in its metadata.
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

/**
 * Returns the JSON Schema (draft 2020-12) of what a zod schema outputs, or accepts if `io` is
 * `input`. It is complete in itself: schemas with an `id` are in its `$defs`. The outermost one is
 * inline.
 */
export function completeSchema(schema: z.ZodType, io: 'output' | 'input' = 'output'): JsonSchema {
  const { components, root } = collect(schema, io)
  const { $ref, ...rest } = root
  const id = typeof $ref === 'string' ? $ref.replace('#/components/schemas/', '') : null
  const outermost = id === null ? rest : { ...components[id], ...rest }
  const others = Object.entries(components).filter(([name]) => name !== id)
  return JSON.parse(
    JSON.stringify({
      ...outermost,
      ...(others.length > 0 && { $defs: Object.fromEntries(others) }),
    }).replaceAll('"#/components/schemas/', '"#/$defs/'),
  )
}

function collect(schema: z.ZodType, io: 'output' | 'input') {
  const schemas = new JsonSchemas('draft-2020-12')
  const root = schemas.of(schema, io)
  return { root, components: schemas.components }
}

/** Returns the schema with references into the document's components. */
function referring(schema: object): JsonSchema {
  return JSON.parse(
    JSON.stringify(schema).replace(/"#\/(\$defs|definitions)\//g, '"#/components/schemas/'),
  )
}
