import { PROBLEMS } from '../errors.ts'
import type { Resource } from '../resources/resource.ts'
import { ABOUT } from './about.ts'
import { completeSchema, type JsonSchema, JsonSchemas } from './json-schemas.ts'
import { methodOf, parametersOf, pathOf, priceText, problemsOf, samplesOf } from './openapi.ts'

/**
 * Returns the reference of the REST API in Markdown, from what `/openapi.json` is made of.
 * `serverUrl` is the URL that samples call.
 */
export function restMarkdown(resources: readonly Resource[], serverUrl: string): string {
  return [
    '# REST reference',
    ABOUT.trim(),
    ...resources.map((resource) => resourceText(resource, serverUrl)),
    '## Refusals',
    table(
      ['code', 'status', 'meaning'],
      Object.entries(PROBLEMS).map(([code, [status, title]]) => [
        `\`${code}\``,
        `${status}`,
        title,
      ]),
    ),
    '',
  ].join('\n\n')
}

function resourceText(resource: Resource, serverUrl: string): string {
  const { docs, price, needsSession, needsPro, params, query, requestBody, answer } = resource
  const schemas = new JsonSchemas('draft-2020-12')
  const parameters = [
    ...parametersOf('path', params, schemas),
    ...parametersOf('query', query, schemas),
  ]
  const access = [
    price === null ? 'Free.' : price === 0 ? 'Free; needs an API key.' : `${priceText(price)}.`,
    ...(needsSession ? ['Needs a dashboard token.'] : []),
    ...(needsPro ? ['Needs Pro.'] : []),
  ].join(' ')
  const samples = price === null ? [] : samplesOf(resource, schemas, serverUrl)
  const isEmpty = docs.statuses?.length === 1 && docs.statuses[0] === 204
  return [
    `## ${methodOf(resource)} ${pathOf(resource)}`,
    `${docs.summary}. ${access}`,
    docs.description,
    ...(parameters.length === 0
      ? []
      : [
          table(
            ['parameter', 'in', 'type', 'meaning'],
            parameters.map(({ name, in: where, required, description, schema }) => [
              `\`${name}\``,
              where,
              `${typeOf(schema)}${required ? '' : ', optional'}`,
              String(description ?? ''),
            ]),
          ),
        ]),
    ...(requestBody ? ['Body:', fieldTable(completeSchema(requestBody, 'input'))] : []),
    ...samples.map(({ lang, source }) => fenced(lang.toLowerCase(), source)),
    ...(isEmpty
      ? ['The answer has no body.']
      : [
          'Answer:',
          fieldTable(completeSchema(answer)),
          fenced('json', JSON.stringify(docs.example, null, 2)),
        ]),
    `Refusals: ${[...new Set(problemsOf(resource))].map((code) => `\`${code}\``).join(', ')}.`,
  ].join('\n\n')
}

function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``
}

function fieldTable(schema: JsonSchema): string {
  return table(['field', 'type', 'meaning'], fieldRows(schema, schema, ''))
}

/** The rows of the fields of a schema, those of nested objects and lists after their field. */
function fieldRows(given: JsonSchema, root: JsonSchema, prefix: string): string[][] {
  if (prefix.split('.').length > DEEPEST) return []
  const { properties, required, items } = resolve(given, root)
  if (items !== undefined) return fieldRows(items, root, prefix)
  return Object.entries(properties ?? {}).flatMap(([name, of]) => {
    const field = resolve(of, root)
    const path = `${prefix}${name}`
    const type = `${typeOf(field)}${required?.includes(name) ? '' : ', optional'}`
    const isList = field.items !== undefined
    return [
      [`\`${path}\``, type, field.description ?? ''],
      ...fieldRows(field, root, `${path}${isList ? '[]' : ''}.`),
    ]
  })
}

const DEEPEST = 8

/** The parts of a schema that the reference shows. */
interface Shown extends JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly description?: string
}

/** Resolves a `$ref`, and takes the object of a field that may be null. */
function resolve(schema: JsonSchema, root: JsonSchema): Shown {
  const { $ref, anyOf } = schema as { readonly $ref?: string; readonly anyOf?: JsonSchema[] }
  const { $defs = {} } = root as { readonly $defs?: Readonly<Record<string, JsonSchema>> }
  const target = $ref === undefined ? undefined : $defs[$ref.split('/').at(-1) ?? '']
  const one = anyOf?.find(({ type }) => type !== 'null')
  const { $ref: _, ...rest } = schema
  if (target !== undefined) return { ...resolve(target, root), ...rest }
  return anyOf?.length === 2 && one !== undefined ? { ...resolve(one, root), ...schema } : schema
}

function typeOf(schema: JsonSchema): string {
  const { type, enum: values, const: value, anyOf, items, minimum, maximum } = schema
  if (value !== undefined) return JSON.stringify(value)
  if (Array.isArray(values)) return values.map((one) => JSON.stringify(one)).join(' or ')
  if (Array.isArray(anyOf)) return anyOf.map(typeOf).join(' or ')
  if (type === 'array') return `list of ${typeOf((items ?? {}) as JsonSchema)}`
  const range = typeof minimum === 'number' && typeof maximum === 'number'
  return `${[type ?? 'object'].flat().join(' or ')}${range ? ` ${minimum}..${maximum}` : ''}`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Text of a cell: on one line, in which a bar ends no cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s*\n\s*/g, ' ')
}
