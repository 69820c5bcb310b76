import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { DASHBOARDS, grafanaOf } from './dashboards.ts'

const FOLDER = resolve(import.meta.dirname, '../../../infra/grafana/dashboards')

for (const dashboard of DASHBOARDS)
  writeFileSync(
    `${FOLDER}/${dashboard.name}.json`,
    `${JSON.stringify(grafanaOf(dashboard), null, 2)}\n`,
  )
