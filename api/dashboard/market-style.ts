/** Styles of the data pages: tables that become cards on narrow screens, fact groups, charts. */
export const MARKET_STYLE = `
/* tables */
.data-table { margin: 0 0 var(--gap); overflow-x: auto; border: 1px solid var(--line); border-radius: var(--radius); background: var(--card); }
.data-table th { vertical-align: middle; white-space: normal; }
.data-table th, .data-table td { padding-inline: 0.45rem; }
@media (min-width: 44.01rem) { .data-table .is-number + :not(.is-number) { padding-inline-start: 1.25rem; } }
.sort-by { display: none; }
#app:has(.data-table) { --side: max(1rem, (100% - 80rem) / 2); }
.data-table > button { margin: 0.5rem; }
button.sort { min-height: 1.75rem; margin: 0 -0.4rem; gap: 0.2rem; padding: 0.1rem 0.4rem; border: 0; background: none; font-weight: 600; text-align: inherit; }
th[aria-sort='ascending'] button.sort, th[aria-sort='descending'] button.sort { color: var(--accent); }
.data-table .is-late { background: var(--notice-card); }
.data-table .is-withdrawn { text-decoration: line-through; }
.data-table .more > td { white-space: normal; }
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
.filter .field { flex: 1 1 9rem; }
.filter .wide { flex: 3 1 16rem; }
.filter .wide input { max-width: none; }
.errors { flex: 1 1 100%; margin: 0; color: var(--bad); }
.notice.bad { background: var(--bad-card); color: var(--bad); }
.notice.info { background: var(--card); color: var(--text); border-color: var(--line); }

/* fact groups */
.fact-groups { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 13.5rem), 1fr)); gap: var(--gap); margin: 0 0 var(--gap); }
.facts { padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: var(--radius); background: var(--card); }
.facts h2, .facts h3 { margin: 0 0 0.5rem; font-size: 1rem; }
.facts dl > div { display: grid; grid-template-columns: auto 1fr; gap: 0 1rem; padding: 0.25rem 0; border-top: 1px solid var(--line); }
.facts dt { color: var(--muted); }
.facts dd { text-align: right; font-variant-numeric: tabular-nums; }
.facts dd.about { grid-column: 1 / -1; text-align: left; font-size: 0.85rem; }

/* bars and charts */
.bars { width: auto; max-width: 100%; margin: 0 0 var(--gap); }
.bars .track { width: 10rem; }
.bars .track span { display: block; height: 0.9rem; border-radius: 2px; background: var(--accent); }
.two-way { display: block; width: 100%; min-width: 6rem; height: 0.4rem; border-radius: 2px; background: linear-gradient(to right, transparent calc(50% - 1px), var(--muted) 0 calc(50% + 1px), transparent 0); }
.two-way span { display: block; height: 100%; }
.two-way .gain { background: var(--good); }
.two-way .loss { background: var(--bad); }
.chart { margin: 0 0 var(--gap); padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: var(--radius); background: var(--card); min-width: 0; }
.chart .plot { min-height: 1rem; overflow: hidden; }
.chart .uplot { font-family: inherit; color: var(--text); }
.chart details { margin-top: 0.5rem; }
.chart details .data-table { max-height: 24rem; overflow: auto; }
.chart .u-legend { font-size: 0.85rem; }
.chart .u-legend th, .chart .u-legend td { border: 0; padding: 0 0.25rem; white-space: normal; }
summary { min-height: 1.75rem; color: var(--accent); cursor: pointer; }

@media (max-width: 44rem) {
  .data-table { border: 0; background: none; overflow-x: visible; }
  .chart details .data-table { overflow: auto; }
  .data-table table, .data-table caption, .data-table tbody { display: block; }
  .data-table thead { display: none; }
  .data-table caption { padding-inline: 0; }
  .sort-by { display: flex; gap: 0.75rem; align-items: center; margin: 0; }
  .sort-by label, .sort-by button { flex: none; }
  .bars th, .bars td { padding-inline: 0.4rem; white-space: normal; }
  .bars .track { width: 4rem; }
  .data-table tbody tr { display: grid; grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr)); gap: 0.5rem; margin: 0 0 0.75rem; padding: 0.75rem; border: 1px solid var(--line); border-radius: var(--radius); background: var(--card); }
  .data-table tbody td { min-width: 0; padding: 0; border: 0; text-align: left; white-space: normal; overflow-wrap: anywhere; font-size: 0.9rem; }
  .data-table tbody td::before { content: attr(data-label); display: block; color: var(--muted); font-size: 0.85rem; }
  .data-table tbody td:has(.reasons) { grid-column: 1 / -1; }
  .data-table tbody .more { display: block; margin-top: -0.75rem; border: 0; }
  .data-table tbody .more td { display: block; }
  .data-table tbody .more td::before { content: none; }
  .reasons { min-width: 0; }
  .two-way { width: 6rem; }
}
`
