/** One instruction in a stage of a Dockerfile. */
export type DockerStep =
  | { readonly kind: 'run'; readonly command: string }
  | {
      readonly kind: 'copy'
      /** Name of the stage copied from; null for the build context. */
      readonly from: string | null
      readonly sources: readonly string[]
      readonly target: string
    }
  | { readonly kind: 'workdir'; readonly path: string }
  | { readonly kind: 'env'; readonly values: Readonly<Record<string, string>> }
  | { readonly kind: 'cmd'; readonly command: readonly string[] }
  /** Instructions that change only the metadata of the image. */
  | { readonly kind: 'description'; readonly text: string }

/** One stage of a Dockerfile. */
export interface DockerStage {
  readonly image: string
  readonly name: string
  readonly steps: readonly DockerStep[]
}

/**
 * Parses the part of the Dockerfile language that the project's Dockerfile uses; throws on other
 * instructions. Source: docs.docker.com/reference/dockerfile.
 */
export function parseDockerfile(text: string): DockerStage[] {
  const lines = text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const stages: (DockerStage & { steps: DockerStep[] })[] = []
  for (const line of lines) {
    const [, word = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? []
    if (word === 'FROM') {
      const [image = '', , name = `stage ${stages.length}`] = rest.split(/\s+/)
      stages.push({ image, name, steps: [] })
    } else stages.at(-1)?.steps.push(readStep(word, rest))
  }
  return stages
}

function readStep(word: string, rest: string): DockerStep {
  switch (word) {
    case 'RUN':
      return { kind: 'run', command: rest }
    case 'WORKDIR':
      return { kind: 'workdir', path: rest }
    case 'ENV':
      return {
        kind: 'env',
        values: Object.fromEntries(
          rest.split(/\s+/).map((pair) => [pair.split('=')[0], pair.replace(/^[^=]*=/, '')]),
        ),
      }
    case 'COPY': {
      const words = rest.split(/\s+/)
      const from = words[0]?.startsWith('--from=') ? (words.shift()?.slice(7) ?? null) : null
      if (words.some((one) => one.startsWith('--'))) throw new Error(`not understood: COPY ${rest}`)
      return { kind: 'copy', from, sources: words.slice(0, -1), target: words.at(-1) ?? '' }
    }
    case 'CMD':
      return { kind: 'cmd', command: JSON.parse(rest) as string[] } // the dry run runs it
    case 'USER':
    case 'EXPOSE':
    case 'HEALTHCHECK':
      return { kind: 'description', text: `${word} ${rest}` }
    default:
      throw new Error(`not understood: ${word} ${rest}`)
  }
}
