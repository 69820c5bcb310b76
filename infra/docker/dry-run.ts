import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { type DockerStage, parseDockerfile } from './dockerfile.ts'

/**
 * Executes the steps of the Dockerfile without Docker. Each stage runs in a folder that stands for
 * the root of the image, with the Node version of the image. Then the command of the last stage is
 * started with a bad value, which it has to report: so it finds everything that it imports.
 */
function main(): void {
  const root = resolve(import.meta.dirname, '../../..')
  const work = mkdtempSync(join(tmpdir(), 'dockerfile-'))
  const roots = new Map<string, string>()
  try {
    const stages = parseDockerfile(readFileSync(join(root, 'infra/docker/Dockerfile'), 'utf8'))
    for (const [index, stage] of stages.entries()) {
      const stageRoot = join(work, String(index))
      roots.set(stage.name, stageRoot)
      mkdirSync(stageRoot)
      runStage(stage, stageRoot, root, roots)
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function runStage(
  stage: DockerStage,
  stageRoot: string,
  context: string,
  roots: ReadonlyMap<string, string>,
): void {
  const version = /^node:(\d+)/.exec(stage.image)?.[1]
  if (version === undefined) throw new Error(`${stage.image}: only Node's images are understood`)
  process.stderr.write(`\nFROM ${stage.image} AS ${stage.name}\n`)
  // npm reads its registry from environment variables.
  let env: NodeJS.ProcessEnv = {
    ...process.env,
    PATH: [nodeFolder(version), process.env.PATH].join(delimiter),
  }
  let workdir = '/'
  for (const step of stage.steps) {
    const here = join(stageRoot, workdir)
    switch (step.kind) {
      case 'workdir':
        workdir = resolve(workdir, step.path)
        mkdirSync(join(stageRoot, workdir), { recursive: true })
        break
      case 'env':
        env = { ...env, ...step.values }
        break
      case 'copy': {
        const from = step.from === null ? context : (roots.get(step.from) ?? '')
        if (from === '') throw new Error(`COPY from ${step.from}: there is no such stage`)
        for (const source of step.sources) copy(join(from, source), join(here, step.target), source)
        break
      }
      case 'run':
        process.stderr.write(`RUN ${step.command}\n`)
        execFileSync('/bin/sh', ['-c', step.command], { cwd: here, env, stdio: ['ignore', 2, 2] })
        break
      case 'cmd':
        expectRefusal(step.command, here, env)
        break
      case 'description':
        break
    }
  }
}

/** Copies as COPY does: the content of a folder into the target, a file into a target folder. */
function copy(source: string, target: string, name: string): void {
  process.stderr.write(`COPY ${name}\n`)
  const isFolder = statSync(source).isDirectory()
  const into = !isFolder && /(\/|\/\.)$/.test(target) ? join(target, basename(name)) : target
  mkdirSync(dirname(into), { recursive: true })
  cpSync(source, into, { recursive: true, verbatimSymlinks: true })
}

/** Starts the command with a bad value. It has to report the value within the 5 s of rule J1. */
function expectRefusal(command: readonly string[], cwd: string, env: NodeJS.ProcessEnv): void {
  process.stderr.write(`CMD ${command.join(' ')}\n`)
  const [file = '', ...args] = command
  const bad = { ...env, KAFKA_BROKERS: 'no port' }
  const { status, stderr } = spawnSync(file, args, {
    cwd,
    env: bad,
    timeout: 5000,
    encoding: 'utf8',
  })
  if (status === null || status === 0 || !stderr.includes('KAFKA_BROKERS'))
    throw new Error(`a bad KAFKA_BROKERS was not refused (exit ${status}):\n${stderr}`)
  process.stderr.write('it starts, and refuses a bad value\n')
}

/** The folder of Node of this major version. npm downloads it if this process runs another one. */
function nodeFolder(version: string): string {
  if (process.versions.node.startsWith(`${version}.`)) return dirname(process.execPath)
  const args = ['--yes', `--package=node@${version}`, '--', 'node', '-p', 'process.execPath']
  const path = execFileSync('npx', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 2] })
  return dirname(path.trim())
}

main()
