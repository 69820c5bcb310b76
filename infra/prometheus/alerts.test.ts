import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { parse } from 'yaml'

/** The root of the project, three folders above the compiled test. */
const ROOT = join(import.meta.dirname, '../../..')
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[]
  }[]
}

const rules = (parse(read('infra/prometheus/alerts.yml')) as Rules).groups.flatMap(
  (group) => group.rules,
)

test('every alert is about metrics that the service has', (t) => {
  const declared = ['pipeline', 'api']
    .flatMap((top) =>
      readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('telemetry.ts'))
        .map((file) => read(join(top, file))),
    )
    .join('\n')
  for (const { alert, expr } of rules) {
    const named = [...expr.matchAll(/\b[a-z]+(?:_[a-z]+)+\b(?!\()/g)].map(([name]) => name)
    t.true(named.length > 0, alert)
    for (const name of named) t.true(declared.includes(`'${name}'`), `${alert}: ${name}`)
  }
})

test('Prometheus loads the alerts, and the documents say what to do about each', (t) => {
  t.regex(read('infra/prometheus/prometheus.yml'), /^rule_files: \[alerts\.yml\]$/m)
  t.regex(
    read('docker-compose.yml'),
    /infra\/prometheus\/alerts\.yml:\/etc\/prometheus\/alerts\.yml:ro/,
  )
  const page = read('docs/operating.md')
  for (const { alert } of rules) t.true(page.includes(`\`${alert}\``), alert)
})
