import type { ComponentChildren } from 'preact'

/** A figure with its name and what it means. */
export interface Fact {
  readonly name: string
  readonly about?: string
  readonly value: ComponentChildren
}

/** Figures of one group, each with what it means below it. */
export function Facts(props: {
  readonly title: string
  readonly facts: readonly Fact[]
  /** One below the heading that it stands under. */
  readonly level?: 'h2' | 'h3'
}) {
  const { title, facts, level: Heading = 'h3' } = props
  return (
    <section class="facts">
      <Heading>{title}</Heading>
      <dl>
        {facts.map(({ name, about, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
            {about !== undefined && <dd class="about">{about}</dd>}
          </div>
        ))}
      </dl>
    </section>
  )
}
