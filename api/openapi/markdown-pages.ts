import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '../middleware/show-page.ts'
import type { Resource } from '../resources/resource.ts'
import { restMarkdown } from './rest-markdown.ts'
import { securityMarkdown } from './security.ts'

/** The documents of the service as Markdown, for agents and other programs (rule M2). */
export interface MarkdownDocuments {
  /** Every document at its path, and `/llms.txt`. */
  readonly pages: readonly Page[]
  /** Returns the list of the documents, as in `/llms.txt`. */
  readonly index: () => string
  readonly rest: () => string
  readonly feed: () => string
  readonly security: () => string
}

/** Creates the documents. `serverUrl` is known once the API listens. */
export function markdownDocuments(
  resources: readonly Resource[],
  serverUrl: () => string,
  securityContact: string | null,
): MarkdownDocuments {
  const index = () => indexText(serverUrl())
  const rest = () => restMarkdown(resources, serverUrl())
  const security = () => securityMarkdown(securityContact)
  const files = FILES.map((name) => [name, () => readDocument(name)] as const)
  const makers = Object.entries({ rest, security, ...Object.fromEntries(files) })
  return {
    pages: [
      { path: '/llms.txt', type: 'text/plain; charset=utf-8', make: index },
      ...makers.map(([name, make]) => ({
        path: `/docs/${name}.md`,
        type: MARKDOWN,
        make,
      })),
    ],
    index,
    rest,
    feed: () => readDocument('feed'),
    security,
  }
}

/** The content type of Markdown (RFC 7763). */
export const MARKDOWN = 'text/markdown; charset=utf-8'

/** Documents for customers in the folder `docs`. The other ones are for operators. */
const FILES = ['agents', 'endpoints', 'feed', 'webhooks', 'contract'] as const

const FOLDER = join(import.meta.dirname, '../../../docs')

/** Reads a document. Links to what is not served here become plain text. */
function readDocument(name: string): string {
  const text = readFileSync(join(FOLDER, `${name}.md`), 'utf8')
  return text.replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (link, label: string, target: string) => {
    if (/^(https?:|#|\/)/.test(target)) return link
    const [, document, fragment = ''] = /^([a-z-]+)\.md(#.*)?$/.exec(target) ?? []
    const isServed = FILES.some((one) => one === document)
    return isServed ? `[${label}](/docs/${document}.md${fragment})` : label
  })
}

function indexText(url: string): string {
  const line = (path: string, title: string, what: string) => `- [${title}](${url}${path}): ${what}`
  return `# Tracked wallets

> Activity and performance of a fixed set of tracked Solana wallets, known by alias only (W1, W2 and
> so on): metrics, positions, trades and a live feed. Calls cost credits and need an API key.

An agent connects to ${url}/mcp with its API key as bearer token: each call of the REST API is a
tool there.

## Documents

${[
  line('/docs/agents.md', 'Agents', 'the tools of the Model Context Protocol, and how to connect'),
  line('/docs/endpoints.md', 'Endpoints', 'every REST endpoint, its price and limits'),
  line('/docs/rest.md', 'REST reference', 'every parameter, field and refusal'),
  line('/docs/feed.md', 'Feed', 'live trades over a WebSocket, without gap or repetition'),
  line('/docs/webhooks.md', 'Webhooks', 'live trades posted to a URL, signed, in order'),
].join('\n')}

## Optional

${[
  line('/docs/contract.md', 'Contract', 'the interface specification'),
  line('/docs/security.md', 'Security', 'how to report a problem'),
  line('/openapi.json', 'OpenAPI', 'the REST API for programs'),
  line('/asyncapi.json', 'AsyncAPI', 'the feed for programs'),
].join('\n')}
`
}
