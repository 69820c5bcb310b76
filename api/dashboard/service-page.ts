import { html } from '../openapi/html.ts'
import { styledDocument } from './document.ts'

/** Returns the front page, `/`. Only its service status needs a script. */
export function servicePage(): string {
  return styledDocument(
    'Tracked wallets',
    html`<meta name="description" content="Data about successful Solana wallets: exact positions, metrics and a live trade feed.">
<script type="module" src="/dashboard/page/service-status.js"></script>`,
    html`<main class="service">
<h1>Tracked wallets</h1>
<p class="lead">Follow successful Solana wallets. The service tracks a fixed set of wallets, each shown under an alias, and decodes every swap and transfer in every block. Positions are exact to the lamport.</p>
<p class="actions">
<a class="button" href="/dashboard">Dashboard</a>
<a class="button quiet" href="/docs">Documentation</a>
</p>
<h2>What you get</h2>
<ul>
<li><strong>Metrics and holdings</strong> of every tracked wallet, and swaps of every token that they trade, over REST.</li>
<li><strong>Live trades</strong> over a WebSocket: each trade once and in order. After a lost connection, you resume where you stopped.</li>
<li><strong>Trending tokens and signals</strong> for Pro subscribers, in the dashboard and over the WebSocket.</li>
</ul>
<h2 id="service-status">Service status</h2>
<dl class="figures" id="status" aria-labelledby="service-status">
<div><dt>Service</dt><dd data-status="state">see <a href="/status">/status</a></dd></div>
<div><dt>Newest stored slot</dt><dd data-status="slot">–</dd></div>
<div><dt>Block time of that slot</dt><dd data-status="time">–</dd></div>
<div><dt>Delay behind Solana</dt><dd data-status="lag">–</dd></div>
<div><dt>Open feed connections</dt><dd data-status="connections">–</dd></div>
</dl>
<h2>For programs</h2>
<p>Send an API key with each request. You get one in the dashboard when you sign in with your wallet. <code>curl -H 'Authorization: Bearer tw_...' .../trades</code></p>
<ul>
<li><a href="/docs/rest">REST endpoints</a>, which you can try on the page · <a href="/openapi.json">openapi.json</a></li>
<li><a href="/docs/feed">Messages of the live feed</a> · <a href="/asyncapi.json">asyncapi.json</a></li>
<li><a href="/status">Progress of each stage</a> as JSON</li>
</ul>
</main>`,
  )
}
