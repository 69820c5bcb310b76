import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** What axe-core says of the page as it stands that is serious or critical: rule, what it asks, and the elements; empty when nothing is. With `rules`, these alone. */
export async function accessibilityFaults(
  page: Page,
  rules: readonly string[] = [],
): Promise<string[]> {
  // Evaluated by the debugger, which no policy of the page holds up or notices.
  await page.evaluate(axe.source)
  const options: axe.RunOptions = {
    resultTypes: ['violations'],
    preload: false, // it would fetch style sheets
    ...(rules.length > 0 && { runOnly: { type: 'rule', values: [...rules] } }),
  }
  const { violations } = await page.evaluate<axe.AxeResults>(
    `axe.run(document, ${JSON.stringify(options)})`,
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => {
      const places = nodes.map(({ target }) => target.join(' ')).slice(0, 5)
      return `${id} (${help}): ${places.join('; ')}`
    })
}

/** The rules whose outcome a change of colours alone can change. */
export const RULES_OF_COLOUR = ['color-contrast', 'link-in-text-block'] as const
