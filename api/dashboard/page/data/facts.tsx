import type { ComponentChildren } from 'preact'

/** A figure with its name and what it means. */
export interface Fact {
  readonly name: string
  readonly about?: string
  readonly value: ComponentChildren
}

/** Figures of one group, each with what it means below it. */
export function Facts({ title, facts }: { title: string; facts: readonly Fact[] }) {
  return (
    <section class="facts">
      <h3>{title}</h3>
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
