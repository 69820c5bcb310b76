/** A response of the API. Tests compare whole bodies. */
export interface ApiResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown> & { items: Record<string, unknown>[]; next_cursor: string }
}

/** Sends a request, with a key or token if given. */
export async function ask(
  api: { readonly url: string },
  path: string,
  key?: string,
  init: RequestInit = {},
): Promise<ApiResponse> {
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

/** Cost of a call and credits left after it, from the headers of its response. */
export function creditsOf({ headers }: ApiResponse): [string | null, string | null] {
  return [headers.get('x-credits-cost'), headers.get('x-credits-remaining')]
}
