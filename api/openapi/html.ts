/** Text that is HTML already; everything else is escaped where it is put in. */
export class SafeHtml {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = string | SafeHtml | readonly SafeHtml[]

/** HTML with its values escaped, so that no text of a document can become markup. */
export function html(strings: TemplateStringsArray, ...values: readonly Part[]): SafeHtml {
  return new SafeHtml(
    strings
      .map((text, index) => text + (index < values.length ? put(values[index] ?? '') : ''))
      .join(''),
  )
}

function put(part: Part): string {
  if (typeof part === 'string') return escaped(part)
  return part instanceof SafeHtml ? part.text : part.map(({ text }) => text).join('\n')
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** Of Markdown: `code`, **bold** and links within the site. */
export function inline(markdown: string): SafeHtml {
  return new SafeHtml(
    escaped(markdown)
      .replace(/`([^`]+)`/g, '<code>$1</code>')
      .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
      .replace(/\[([^\]]+)\]\((\/[^)]*)\)/g, '<a href="$2">$1</a>'),
  )
}

/** Paragraphs divided by blank lines. */
export function paragraphs(markdown: string): readonly SafeHtml[] {
  return markdown.split('\n\n').map((text) => html`<p>${inline(text)}</p>`)
}

/** A whole page in the style of the documents; `head` for what else it loads, from here alone. */
export function docsPage(title: string, body: SafeHtml, head: SafeHtml = html``): string {
  return htmlDocument(
    title,
    html`<link rel="stylesheet" href="/docs/docs.css">
${head}`,
    html`<main>${body}</main>`,
  )
}

/** A document as browsers take it, for screens of any size. */
export function htmlDocument(title: string, head: SafeHtml, body: SafeHtml): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${head}
</head>
<body>
${body}
</body>
</html>
`.text
}
