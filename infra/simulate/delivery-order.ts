/**
 * The order of messages that are delivered at least once, each known by a name. What is delivered
 * again shows where the sender is: a message that is new there has its place after the one before
 * it, even if later ones came already (rule M1).
 */
export class DeliveryOrder<T> {
  readonly #names: string[] = []
  readonly #messages = new Map<string, T>()
  /** Index of the message that was delivered last. */
  #at = -1

  /** Notes a delivered message. */
  add(name: string, message: T): void {
    if (this.#messages.has(name)) {
      this.#at = this.#names.indexOf(name)
      return
    }
    this.#at += 1
    this.#names.splice(this.#at, 0, name)
    this.#messages.set(name, message)
  }

  /** Each message once. */
  get messages(): T[] {
    return this.#names.flatMap((name) => this.#messages.get(name) ?? [])
  }
}
