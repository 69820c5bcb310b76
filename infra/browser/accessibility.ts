import axe from 'axe-core'
import type { Page } from 'playwright-core'

/**
 * Returns the serious and critical violations that axe-core finds on the current page: rule, its
 * description, and the elements. With `rules`, only these rules run; with `within`, on the elements
 * of that selector.
 */
export async function findAccessibilityViolations(
  page: Page,
  rules: readonly string[] = [],
  within: string | null = null,
): Promise<string[]> {
  // The debugger evaluates axe-core, so the content security policy of the page does not apply.
  await page.evaluate(axe.source)
  const options: axe.RunOptions = {
    resultTypes: ['violations'],
    preload: false, // It would fetch style sheets.
    ...(rules.length > 0 && { runOnly: { type: 'rule', values: [...rules] } }),
  }
  const { violations } = await page.evaluate<axe.AxeResults>(
    `axe.run(${within === null ? 'document' : JSON.stringify(within)}, ${JSON.stringify(options)})`,
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => {
      const elements = nodes.map(({ target }) => target.join(' ')).slice(0, 5)
      return `${id} (${help}): ${elements.join('; ')}`
    })
}

/** The axe-core rules that depend on the colours of the theme. */
export const COLOUR_RULES = ['color-contrast', 'link-in-text-block'] as const
