/** Styles of all pages: narrow screens first, light and dark by CSS variables. */
export const STYLE = `:root {
  color-scheme: light dark;
  --page: #f5f7fa; --card: #fff; --text: #18212c; --muted: #505c6b; --line: #d5dce5;
  --accent: #0b5cad; --on-accent: #fff; --good: #17693a; --good-card: #e8f5ec; --bad: #a8231b; --bad-card: #fdecea;
  --notice-card: #fff5d9; --notice: #5c4400; --focus: #0b5cad;
  --gap: 0.75rem; --radius: 0.375rem; --side: max(1rem, (100% - 76rem) / 2);
  --small: 0.8125rem; --control: 2.25rem; --cell: 0.3rem 0.6rem;
  --figures: ui-monospace, 'SF Mono', 'Cascadia Mono', monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0e131a; --card: #171e28; --text: #e5eaf1; --muted: #a5b1c0; --line: #303b49;
    --accent: #83bcff; --on-accent: #07121f; --good: #82d99c; --good-card: #12291b; --bad: #ff9c92; --bad-card: #35181a;
    --notice-card: #30270f; --notice: #ffdf8a; --focus: #a9d1ff;
  }
}
@media (pointer: coarse) { :root { --control: 2.75rem; } }
*, ::before, ::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--text); font: 0.9375rem/1.45 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.35rem; line-height: 1.2; }
h2 { margin: 1.5rem 0 0.5rem; font-size: 1.05rem; }
.heading { display: flex; gap: 0.5rem; align-items: center; justify-content: start; margin: 0 0 0.5rem; }
.heading h2 { flex: 1; margin: 0; }
h1:focus, h2:focus, main:focus { outline: none; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 2px; }
code { font-family: var(--figures); font-size: 0.92em; }
fieldset { margin: 0 0 var(--gap); padding: 0.5rem 1rem; border: 1px solid var(--line); border-radius: var(--radius); }
dl, dd { margin: 0; }

/* header, navigation, footer */
.skip { position: absolute; left: -100vw; top: 0; padding: 0.75rem 1rem; background: var(--card); z-index: 2; }
.skip:focus { left: 0; }
.only-spoken { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.top { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: center; justify-content: space-between; padding: 0.5rem var(--side); background: var(--card); border-bottom: 1px solid var(--line); }
.brand { font-weight: 700; color: inherit; text-decoration: none; padding: 0.5rem 0; }
.who { display: flex; flex-wrap: wrap; gap: 0 1rem; margin: 0; color: var(--muted); font-size: 0.9rem; }
nav ul { display: flex; overflow-x: auto; margin: 0; padding: 0.25rem calc(var(--side) - 0.6rem); list-style: none; background: var(--card); border-bottom: 1px solid var(--line); }
nav a { display: block; padding: 0.5rem 0.6rem; white-space: nowrap; color: inherit; text-decoration: none; border-radius: var(--radius); }
nav a:hover { text-decoration: underline; }
nav a[aria-current] { color: var(--accent); font-weight: 600; box-shadow: inset 0 -3px var(--accent); border-radius: 0; }
main { padding: 1.25rem var(--side) 3rem; }
main.service { --side: max(1rem, (100% - 46rem) / 2); padding-top: 3rem; }
footer { display: flex; flex-wrap: wrap; gap: 0 1.5rem; padding: 1rem var(--side); border-top: 1px solid var(--line); font-size: 0.9rem; }
footer a { padding: 0.5rem 0; }
.lead { margin-top: 0; color: var(--muted); max-width: 46rem; }
.about { color: var(--muted); font-size: var(--small); max-width: 46rem; }

/* buttons and fields */
button, .button { display: inline-flex; align-items: center; gap: 0.4rem; min-height: var(--control); padding: 0.25rem 0.8rem; border: 1px solid var(--line); border-radius: var(--radius); background: var(--card); color: var(--text); font: inherit; text-decoration: none; cursor: pointer; }
button:hover, .button:hover { border-color: var(--accent); }
button.primary, .button:not(.quiet) { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.danger { border-color: var(--bad); color: var(--bad); font-weight: 600; }
button.small { min-height: 1.75rem; padding: 0.1rem 0.6rem; font-size: var(--small); }
button.bare { min-width: 1.75rem; min-height: 1.75rem; padding: 0.25rem; justify-content: center; border: 0; background: none; color: var(--muted); }
button.bare:hover, button.bare[aria-pressed='true'] { color: var(--accent); }
button.link { min-height: 0; padding: 0.5rem 0; border: 0; background: none; color: var(--accent); text-decoration: underline; }
button.search { margin-inline-start: auto; color: var(--muted); }
.icon { width: 1rem; height: 1rem; flex: none; fill: none; stroke: currentColor; stroke-width: 1.5; stroke-linecap: round; stroke-linejoin: round; }
.icon.filled { fill: currentColor; }
kbd { padding: 0 0.35rem; border: 1px solid var(--line); border-radius: 0.25rem; background: var(--page); font: inherit; font-size: var(--small); }
kbd + kbd { margin-inline-start: 0.25rem; }
dialog { width: min(36rem, 100% - 2rem); max-height: calc(100% - 4rem); margin: 3rem auto auto; padding: 1rem; border: 1px solid var(--line); border-radius: var(--radius); background: var(--card); color: var(--text); overflow: auto; }
dialog::backdrop { background: rgb(0 0 0 / 50%); }
dialog input[type='search'] { max-width: none; }
.hits { margin: 0 0 var(--gap); padding: 0; list-style: none; }
.hits li { display: flex; gap: 0.25rem; align-items: center; border-top: 1px solid var(--line); }
.hits a { flex: 1; padding: 0.4rem 0; text-decoration: none; }
.hits a:hover { text-decoration: underline; }
.hits small { color: var(--muted); }
.legend { margin: 0 0 var(--gap); font-size: var(--small); }
.legend div { display: grid; grid-template-columns: 6.5rem 1fr; gap: 0.5rem; padding: 0.15rem 0; }
.legend dt { font-weight: 600; }
.legend dd { color: var(--muted); }
button:disabled, button[aria-disabled='true'] { opacity: 0.6; cursor: default; }
.actions { display: flex; flex-wrap: wrap; gap: 0.75rem; align-items: center; }
.choices { display: flex; flex-wrap: wrap; gap: 0 1.5rem; }
label { display: block; }
.choice { display: flex; gap: 0.5rem; align-items: center; min-height: var(--control); }
input[type='text'], input[type='password'], input[type='search'], input[type='number'], select { width: 100%; max-width: 24rem; min-height: var(--control); padding: 0.2rem 0.6rem; border: 1px solid var(--muted); border-radius: var(--radius); background: var(--card); color: var(--text); font: inherit; }
input[aria-invalid='true'] { border-color: var(--bad); }
input[type='radio'], input[type='checkbox'] { flex: none; width: 1.1rem; height: 1.1rem; accent-color: var(--accent); }
progress { width: 100%; max-width: 24rem; accent-color: var(--accent); }

/* cards and notices */
.narrow { max-width: 46rem; }
.card, .empty, .failure, .notice { margin: 0 0 var(--gap); padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: var(--radius); background: var(--card); }
.card > :first-child, .empty > :first-child, .failure > :first-child { margin-top: 0; }
.card > :last-child, .empty > :last-child, .failure > :last-child { margin-bottom: 0; }
.empty { color: var(--muted); border-style: dashed; }
.failure { background: var(--bad-card); border-color: var(--bad); }
.failure strong { color: var(--bad); }
.notice { background: var(--notice-card); color: var(--notice); border-color: currentColor; max-width: 46rem; }
.notice a, .failure a { color: inherit; }
.good { background: var(--good-card); border-color: var(--good); }
.important { border: 2px solid var(--accent); }
.loading { color: var(--muted); }
.steps { display: grid; gap: 0.5rem; margin: 0 0 var(--gap); padding-inline-start: 1.25rem; }
.steps .secret { margin: 0.5rem 0; font-size: var(--small); overflow-wrap: anywhere; }
.secret { display: block; padding: 0.75rem; border-radius: var(--radius); background: var(--page); font-size: 1rem; user-select: all; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 14rem), 1fr)); gap: 0.75rem 1.5rem; margin: 0 0 var(--gap); }
.figures dt { color: var(--muted); font-size: 0.9rem; }
.figures .large { font-size: 1.4rem; font-weight: 600; }
.is-good { color: var(--good); }
.is-bad { color: var(--bad); }

/* tables */
.table { margin: 0 0 var(--gap); overflow-x: auto; border: 1px solid var(--line); border-radius: var(--radius); background: var(--card); }
table { width: 100%; border-collapse: collapse; font-size: 0.875rem; }
caption { padding: var(--cell); text-align: left; color: var(--muted); font-size: var(--small); }
th, td { padding: var(--cell); border-top: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: normal; white-space: nowrap; }
th { font-weight: 600; }
.is-number { text-align: right; font-variant-numeric: tabular-nums; }

/* wallets and payments */
.wallets { display: grid; gap: 0.5rem; margin: 0; padding: 0; list-style: none; }
.wallets button { width: 100%; max-width: 24rem; }
.payment { display: grid; gap: var(--gap); margin: var(--gap) 0; }
.qr { width: 100%; max-width: 15rem; height: auto; border-radius: var(--radius); }
.qr-light { fill: #fff; }
.qr-dark { fill: #000; }
.bar-frame { display: block; width: 8rem; height: 0.8rem; margin-top: 0.3rem; }
.bar { fill: var(--accent); }
@media (min-width: 48rem) { .payment { grid-template-columns: 15rem 1fr; } }
@media (prefers-reduced-motion: reduce) { *, ::before, ::after { animation: none !important; transition: none !important; scroll-behavior: auto !important; } }
`
