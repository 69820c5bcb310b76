/** An event that fires once, as a promise. */
export interface OneShot {
  readonly fired: Promise<void>
  fire(): void
}

/** An event that has not fired yet. */
export function createOneShot(): OneShot {
  let fire = () => {}
  const fired = new Promise<void>((resolve) => {
    fire = resolve
  })
  return { fired, fire }
}
