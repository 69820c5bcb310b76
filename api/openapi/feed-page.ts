import type { AsyncApiDocument, MessageDocs } from './asyncapi.ts'
import { docsPage, html, inline, paragraphs, type SafeHtml } from './html.ts'
import type { JsonSchema } from './json-schemas.ts'

/**
 * Returns the documentation of the feed as an HTML page without scripts, generated from the
 * AsyncAPI document.
 */
export function feedPage(document: AsyncApiDocument): string {
  const { info, channels, components } = document
  const { messages } = components
  const isOfClient = ({ name }: MessageDocs) => CLIENT.includes(name)
  const all = Object.values(messages)
  const section = (title: string, list: readonly MessageDocs[]) => html`
    <h2>${title}</h2>
    ${list.map((message) => messageSection(message, document))}`
  return docsPage(
    info.title,
    html`
    <h1>${info.title}</h1>
    <p><code>GET ${channels.feed.address}</code> · <a href="/asyncapi.json">asyncapi.json</a> · <a href="/docs">all documentation</a></p>
    ${paragraphs(info.description)}
    <h2>Connect</h2>
    ${paragraphs(channels.feed.description)}
    ${section(
      'Messages from a client',
      all.filter((message) => isOfClient(message)),
    )}
    ${section(
      'Messages from the service',
      all.filter((message) => !isOfClient(message)),
    )}`,
  )
}

const CLIENT = ['Subscribe', 'Unsubscribe', 'Ping']

function messageSection(message: MessageDocs, document: AsyncApiDocument): SafeHtml {
  return html`
    <section id="${message.name}">
      <h3>${message.name}</h3>
      <p>${inline(message.summary)}</p>
      <table>
        <thead><tr><th>field</th><th>type</th><th>meaning</th></tr></thead>
        <tbody>${fieldRows(message.payload, document)}</tbody>
      </table>
      ${(message.examples ?? []).map(
        ({ payload }) => html`<pre>${JSON.stringify(payload, null, 2)}</pre>`,
      )}
    </section>`
}

function fieldRows(schema: JsonSchema, document: AsyncApiDocument, prefix = ''): SafeHtml[] {
  const { properties = {}, required = [] } = resolve(schema, document)
  return Object.entries(properties).flatMap(([name, given]) => {
    const field = resolve(given, document)
    const path = `${prefix}${name}`
    const type = `${typeOf(field)}${required.includes(name) ? '' : ', optional'}`
    return [
      html`<tr><td><code>${path}</code></td><td>${type}</td><td>${inline(field.description ?? '')}</td></tr>`,
      ...fieldRows(field, document, `${path}.`),
    ]
  })
}

/** The parts of a schema that the page shows. */
interface Shown extends JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly description?: string
}

/** Resolves a `$ref`. Sibling members of `$ref` override members of its target. */
function resolve(schema: JsonSchema, { components }: AsyncApiDocument): Shown {
  const [only] = Array.isArray(schema.allOf) && schema.allOf.length === 1 ? schema.allOf : []
  const { $ref } = (only ?? schema) as { readonly $ref?: string }
  const target = $ref === undefined ? undefined : components.schemas[$ref.split('/').at(-1) ?? '']
  return target === undefined ? schema : { ...target, ...schema }
}

function typeOf(schema: JsonSchema): string {
  const { type, enum: values, const: value, anyOf, items } = schema
  if (value !== undefined) return JSON.stringify(value)
  if (Array.isArray(values)) return values.map((one) => JSON.stringify(one)).join(' or ')
  if (Array.isArray(anyOf)) return anyOf.map(typeOf).join(' or ')
  if (type === 'array') return `list of ${typeOf(items as JsonSchema)}`
  return String(type ?? 'any')
}
