/** Styles of the data pages: dense tables, fact groups, charts. */
export const MARKET_STYLE = `
/* tables: each row is one line; a narrow screen scrolls them sideways beside the first column */
.data-table { margin: 0 0 var(--gap); border: 1px solid var(--line); border-radius: var(--radius); background: var(--card); }
.data-table .scroll { position: relative; overflow-x: auto; }
.data-table caption { position: sticky; left: 0; }
.data-table th { vertical-align: bottom; color: var(--muted); }
.data-table td { vertical-align: middle; }
.data-table tr > :first-child { position: sticky; left: 0; z-index: 1; background: var(--card); }
.data-table tbody tr:hover > td { background: var(--page); }
.data-table .more > td > div { position: sticky; left: 0.6rem; width: fit-content; max-width: calc(100vw - 3.5rem); }
.data-table > button { margin: 0.5rem; }
.ranked, .token { display: inline-flex; gap: 0.15rem; align-items: center; }
.ranked small { min-width: 1.6rem; color: var(--muted); text-align: right; }
.tools { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: center; }
.menu { position: relative; }
.menu fieldset { margin-top: 0.25rem; background: var(--card); }
.menu[open] { flex: 1 1 100%; }
.menu fieldset { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 0 1rem; }
.status.disqualified { color: var(--bad); }
.status.review { color: var(--notice); }
.sparkline { display: block; width: 6rem; height: 1.5rem; fill: none; stroke: currentColor; stroke-width: 1.5; }
#app:has(.data-table) { --side: max(1rem, (100% - 84rem) / 2); }
button.sort { min-height: 1.5rem; margin: 0 -0.3rem; gap: 0.2rem; padding: 0.1rem 0.3rem; border: 0; background: none; color: inherit; font-size: inherit; font-weight: 600; text-align: inherit; }
th[aria-sort='ascending'] button.sort, th[aria-sort='descending'] button.sort { color: var(--accent); }
.data-table .is-late { background: var(--notice-card); }
.data-table .is-withdrawn { text-decoration: line-through; }
.data-table .more > td { position: static; white-space: normal; }
.badge { margin-inline-start: 0.4rem; padding: 0 0.4rem; border: 1px solid var(--notice); border-radius: 1rem; background: var(--notice-card); color: var(--notice); font-size: 0.8rem; }
.data-table td > small, .data-table .in-short > :last-child { display: block; }
.data-table td > .badge { display: block; width: fit-content; margin-inline: 0; }
.reasons { margin: 0; padding-inline-start: 1rem; white-space: normal; min-width: 14rem; }
.address { overflow-wrap: anywhere; white-space: normal; }
.as-of { color: var(--muted); font-size: 0.9rem; }
.pages, .feed-bar, .inline-form, .offer { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; margin: 0 0 var(--gap); }
.feed-bar p { margin: 0; }
.inline-form input { flex: 1 1 14rem; }
.filter { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: end; margin: 0 0 var(--gap); }
.filter .field { flex: 1 1 9rem; max-width: 16rem; }
.filter label { color: var(--muted); font-size: var(--small); }
.filter .wide { flex: 3 1 16rem; }
.filter .wide input { max-width: none; }
.errors { flex: 1 1 100%; margin: 0; color: var(--bad); }
.notice.bad { background: var(--bad-card); color: var(--bad); }
.notice.info { background: var(--card); color: var(--text); border-color: var(--line); }

/* fact groups */
.fact-groups { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); gap: var(--gap); margin: 0 0 var(--gap); }
.facts { padding: 0.5rem 0.75rem; border: 1px solid var(--line); border-radius: var(--radius); background: var(--card); }
.facts h2, .facts h3 { margin: 0 0 0.5rem; font-size: 1rem; }
.facts dl > div { display: grid; grid-template-columns: auto 1fr; gap: 0 1rem; padding: 0.25rem 0; border-top: 1px solid var(--line); }
.facts dt { color: var(--muted); }
.facts dd { text-align: right; font-variant-numeric: tabular-nums; }
.facts dd.about { grid-column: 1 / -1; text-align: left; font-size: var(--small); }

/* bars and charts */
.bars { width: auto; max-width: 100%; margin: 0 0 var(--gap); }
.bars .track { width: 10rem; }
.bars .track span { display: block; height: 0.9rem; border-radius: 2px; background: var(--accent); }
.chart { margin: 0 0 var(--gap); padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: var(--radius); background: var(--card); min-width: 0; }
.chart .plot { min-height: 1rem; overflow: hidden; }
.chart .uplot { font-family: inherit; color: var(--text); }
.chart details { margin-top: 0.5rem; }
.chart details .data-table { max-height: 24rem; overflow: auto; }
.chart .u-legend { font-size: 0.85rem; }
.chart .u-legend th, .chart .u-legend td { border: 0; padding: 0 0.25rem; white-space: normal; }
summary { min-height: 1.75rem; color: var(--accent); cursor: pointer; }

@media (max-width: 44rem) {
  main { padding-top: 0.75rem; }
  .chart { padding: 0.5rem; }
  .bars th, .bars td { padding-inline: 0.4rem; white-space: normal; }
  .bars .track { width: 4rem; }
  .filter { gap: 0.4rem 0.6rem; }
  .filter .field { flex: 1 1 7.5rem; }
  .filter .wide { flex: 1 1 100%; }
}
`
