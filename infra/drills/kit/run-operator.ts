import type { Deployment } from '../../whole-service/deployment.ts'

/** Runs an operator command and returns its document. Throws if its exit code is not 0. */
export async function runOperator(
  deployment: Pick<Deployment, 'operator'>,
  ...args: string[]
): Promise<Record<string, unknown>> {
  const { code, document } = await deployment.operator(...args)
  if (code !== 0) throw new Error(`${args.join(' ')}: ${JSON.stringify(document)}`)
  return document as Record<string, unknown> // rule J3
}
