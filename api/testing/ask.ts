/** What the API answered; tests compare whole bodies. */
export interface Asked {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown> & { items: Record<string, unknown>[]; next_cursor: string }
}

/** Asks as a customer's program does; without a key as anybody. */
export async function ask(
  api: { readonly url: string },
  path: string,
  key?: string,
  init: RequestInit = {},
): Promise<Asked> {
  const response = await fetch(`${api.url}${path}`, {
    ...init,
    headers: { ...(key && { authorization: `Bearer ${key}` }), ...init.headers },
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? {} : JSON.parse(text),
  }
}

/** What a call cost, and what was left after it, as its answer says. */
export function creditsOf({ headers }: Asked): [string | null, string | null] {
  return [headers.get('x-credits-cost'), headers.get('x-credits-remaining')]
}
