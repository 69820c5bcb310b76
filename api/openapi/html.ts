/** Text that is already HTML. All other text is escaped when it is inserted. */
export class SafeHtml {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = string | SafeHtml | readonly SafeHtml[]

/** Builds HTML. Values are escaped, so text of a document cannot become markup. */
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

/** Renders inline Markdown: `code`, **bold** and links within the site. */
export function inline(markdown: string): SafeHtml {
  return new SafeHtml(
    escaped(markdown)
      .replace(/`([^`]+)`/g, '<code>$1</code>')
      .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
      .replace(/\[([^\]]+)\]\((\/[^)]*)\)/g, '<a href="$2">$1</a>'),
  )
}

/** Splits Markdown into paragraphs at blank lines. */
export function paragraphs(markdown: string): readonly SafeHtml[] {
  return markdown.split('\n\n').map((text) => html`<p>${inline(text)}</p>`)
}

/**
 * Returns a whole page in the style of the documents. `head` adds elements, from this origin only.
 */
export function docsPage(title: string, body: SafeHtml, head: SafeHtml = html``): string {
  return htmlDocument(
    title,
    html`<link rel="icon" href="/dashboard/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs/docs.css">
${head}`,
    html`<main>${body}</main>`,
  )
}

/** Returns a complete HTML document that adapts to any screen size. */
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
