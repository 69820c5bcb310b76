/** What the product API said, and when. */
export interface Answer<Body> {
  readonly body: Body
  /** Unix seconds at which it came. */
  readonly at: number
  readonly creditsLeft: number | null
}

/** Answers by path, the newest `most`, of one API key: those of another are forgotten. */
export interface AnswerStore {
  useKey(key: string | null): void
  get<Body>(path: string): Answer<Body> | null
  set(path: string, answer: Answer<unknown>): void
}

export function createAnswerStore(most: number): AnswerStore {
  const answers = new Map<string, Answer<unknown>>()
  let current: string | null = null
  return {
    useKey(key) {
      if (key !== current) answers.clear()
      current = key
    },
    get: <Body>(path: string) => (answers.get(path) ?? null) as Answer<Body> | null, // a path has one kind of answer
    set(path, answer) {
      answers.delete(path)
      answers.set(path, answer)
      const [oldest] = answers.keys()
      if (answers.size > most && oldest !== undefined) answers.delete(oldest)
    },
  }
}
