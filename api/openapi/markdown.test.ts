import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { declaredResources } from '../testing/declared-resources.ts'
import { openEmbeddedStore, type TestStore } from '../testing/open-stores.ts'
import { startApi, type TestApi } from '../testing/start-api.ts'
import { methodOf, pathOf } from './openapi.ts'

/*
 * The documents as Markdown (rule M2).
 */

let opened: TestStore
let api: TestApi

test.before(async () => {
  opened = await openEmbeddedStore()
  api = await startApi(opened.store)
})
test.after.always(async () => {
  await api.close()
  await opened.remove()
})

async function get(path: string, accept = '*/*') {
  const response = await fetch(new URL(path, api.url), { headers: { accept } })
  const { status, headers } = response
  return { status, type: headers.get('content-type'), headers, text: await response.text() }
}

/** Targets of the links in a Markdown text. */
const linksOf = (text: string) => [...text.matchAll(/\]\(([^)\s#]+)/g)].map(([, url]) => url ?? '')

test('llms.txt lists documents that are served, and they link to no other document', async (t) => {
  const { text, type } = await get('/llms.txt')
  t.is(type, 'text/plain; charset=utf-8')
  t.regex(text, /^# Tracked wallets\n\n> /)
  const listed = linksOf(text)
  t.is(listed.length, 9)
  for (const url of listed) {
    const document = await get(url)
    t.is(document.status, 200, url)
    if (!url.endsWith('.md')) continue
    t.is(document.type, 'text/markdown; charset=utf-8')
    t.regex(document.text, /^# /)
    for (const link of linksOf(document.text))
      if (!link.startsWith('http')) t.is((await get(link)).status, 200, `${url} links to ${link}`)
  }
})

test('the REST reference names every resource, parameter and field of an example', async (t) => {
  const { text } = await get('/docs/rest.md')
  for (const resource of declaredResources()) {
    const heading = `## ${methodOf(resource)} ${pathOf(resource)}\n`
    const [, section = ''] = text.split(heading)
    const [own = ''] = section.split('\n## ')
    t.not(own, '', heading)
    const { params, query, docs } = resource
    const names = [...Object.keys(params.shape), ...Object.keys(query.shape)]
    for (const name of [...names, ...Object.keys((docs.example as object | undefined) ?? {})])
      if (own.includes('Answer:') || names.includes(name))
        t.true(own.includes(`| \`${name}\` |`), `${heading} ${name}`)
  }
  t.true(text.includes('| `items[].token_amount` |'))
})

test('the pages of the documents are Markdown for clients that prefer it, and HTML for others', async (t) => {
  const pages = [
    ['/docs', '/llms.txt'],
    ['/docs/rest', '/docs/rest.md'],
    ['/docs/feed', '/docs/feed.md'],
    ['/docs/security', '/docs/security.md'],
  ] as const
  for (const [page, document] of pages) {
    const { text } = await get(document)
    for (const accept of ['text/markdown', 'text/markdown, text/html;q=0.9, */*;q=0.1']) {
      const markdown = await get(page, accept)
      t.is(markdown.type, 'text/markdown; charset=utf-8')
      t.is(markdown.text, text)
      t.regex(markdown.headers.get('vary') ?? '', /Accept(,|$)/)
    }
    for (const accept of ['*/*', 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8', 'image/png'])
      t.is((await get(page, accept)).type, 'text/html; charset=utf-8', accept)
  }
})

test('the production image has the documents', (t) => {
  const dockerfile = readFileSync(
    join(import.meta.dirname, '../../../infra/docker/Dockerfile'),
    'utf8',
  )
  const [copied = ''] = /^COPY docs\/.*$/m.exec(dockerfile) ?? []
  t.is(
    copied,
    'COPY docs/agents.md docs/endpoints.md docs/feed.md docs/webhooks.md docs/contract.md docs/',
  )
})
