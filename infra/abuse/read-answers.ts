/** An HTTP response as it was received. */
export interface HttpAnswer {
  readonly status: number
  /** Header fields by lower-case name. The last value of a repeated field counts. */
  readonly fields: ReadonlyMap<string, string>
  readonly body: string
}

/**
 * Reads the HTTP responses in bytes, without interim ones (100 Continue). After `isEnded`, the last
 * one may be incomplete. Responses to HEAD have no body.
 */
export function readAnswers(bytes: Buffer, isHead: boolean, isEnded: boolean): HttpAnswer[] {
  const text = bytes.toString('latin1')
  const answers: HttpAnswer[] = []
  let at = 0
  for (;;) {
    const end = text.indexOf('\r\n\r\n', at)
    const [line = '', ...lines] = end < 0 ? [] : text.slice(at, end).split('\r\n')
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(line)?.[1] ?? Number.NaN)
    if (Number.isNaN(status)) return answers
    const fields = new Map(
      lines.map((field) => {
        const colon = field.indexOf(':')
        return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()]
      }),
    )
    const hasBody = !isHead && status >= 200 && status !== 204 && status !== 304
    const body = hasBody ? readBody(text, end + 4, fields, isEnded) : (['', end + 4] as const)
    if (body === null) return answers
    at = body[1]
    if (status >= 200 || status === 101) answers.push({ status, fields, body: body[0] })
    if (status === 101) return answers
  }
}

/** The body at a position, and its end; null when it is incomplete. */
function readBody(
  text: string,
  from: number,
  fields: ReadonlyMap<string, string>,
  isEnded: boolean,
): readonly [body: string, end: number] | null {
  if (fields.get('transfer-encoding') === 'chunked') return readChunks(text, from)
  const length = fields.get('content-length')
  const end = length === undefined ? text.length : from + Number(length)
  if (length === undefined && !isEnded) return null
  return end > text.length ? null : [text.slice(from, end), end]
}

function readChunks(text: string, from: number): readonly [body: string, end: number] | null {
  let [body, at] = ['', from]
  for (;;) {
    const line = text.indexOf('\r\n', at)
    if (line < 0) return null
    const size = Number.parseInt(text.slice(at, line), 16)
    if (text.length < line + 4 + size) return null
    body += text.slice(line + 2, line + 2 + size)
    at = line + 4 + size
    if (size === 0) return [body, at]
  }
}
