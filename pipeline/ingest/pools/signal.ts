/** A promise that `fire` resolves. */
export interface Signal {
  readonly fired: Promise<void>
  fire(): void
}

/** A signal that has not fired. */
export function createSignal(): Signal {
  let fire = () => {}
  const fired = new Promise<void>((resolve) => {
    fire = resolve
  })
  return { fired, fire }
}
