import type { TokenBook } from './token-book.ts'

/** Which tokens are to be computed at which tick. */
export class TickSchedule {
  /** Tokens that became due by time alone, by tick. */
  readonly #due = new Map<number, Set<TokenBook>>()
  /** Tokens to compute at the next tick. */
  #touched = new Set<TokenBook>()

  /** Computes a token at the next tick. */
  touch(book: TokenBook): void {
    this.#touched.add(book)
  }

  /** Computes a token at tick `due`, unless it is scheduled anew before; never if infinite. */
  schedule(book: TokenBook, due: number): void {
    book.dueAt = due
    if (due === Number.POSITIVE_INFINITY) return
    const books = this.#due.get(due)
    if (books === undefined) this.#due.set(due, new Set([book]))
    else books.add(book)
  }

  /** Removes and returns the tokens to compute at tick `at`. */
  take(at: number): Set<TokenBook> {
    const due = this.#touched
    this.#touched = new Set()
    for (const book of this.#due.get(at) ?? []) if (book.dueAt === at) due.add(book)
    this.#due.delete(at)
    return due
  }
}
