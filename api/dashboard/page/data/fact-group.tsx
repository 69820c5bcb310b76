import type { ComponentChildren } from 'preact'

/** A named value. */
export interface Fact {
  readonly name: string
  /** What the value means, shown below it. */
  readonly description?: string
  readonly value: ComponentChildren
}

/** Returns a fact. `description` says what the value means. */
export function fact(name: string, value: ComponentChildren, description?: string): Fact {
  return { name, value, ...(description !== undefined && { description }) }
}

/** A card with a heading and a list of facts. */
export function FactGroup(props: {
  readonly title: string
  readonly facts: readonly Fact[]
  /** Level of the heading: one below that of the enclosing section. */
  readonly level?: 'h2' | 'h3'
}) {
  const { title, facts, level: Heading = 'h3' } = props
  return (
    <section class="facts">
      <Heading>{title}</Heading>
      <dl>
        {facts.map(({ name, description, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
            {description !== undefined && <dd class="about">{description}</dd>}
          </div>
        ))}
      </dl>
    </section>
  )
}
