import { html } from '../openapi/html.ts'
import { styledDocument } from './document.ts'

/** `/`: what the service is, how it is just now, and where to go. Whole without script, but for how it is. */
export function servicePage(): string {
  return styledDocument(
    'Tracked wallets',
    html`<meta name="description" content="What good Solana wallets do: exact positions, metrics and a live trade feed.">
<script type="module" src="/dashboard/page/service-status.js"></script>`,
    html`<main class="service">
<h1>Tracked wallets</h1>
<p class="lead">What good Solana wallets do. A fixed set of wallets, each known by its alias alone, is followed block by block: every swap and transfer decoded, every position kept to the lamport.</p>
<p class="actions">
<a class="button" href="/dashboard">Dashboard</a>
<a class="button quiet" href="/docs">Documentation</a>
</p>
<h2>What you get</h2>
<ul>
<li><strong>Metrics and holdings</strong> of every wallet, and of every token they trade, over REST.</li>
<li><strong>Live trades</strong> over one WebSocket, each once and in one order, to be resumed after any cut.</li>
<li><strong>Trending tokens and signals</strong> for subscribers, in the dashboard and over the socket.</li>
</ul>
<h2 id="now">Just now</h2>
<dl class="figures" id="status" aria-labelledby="now">
<div><dt>Service</dt><dd data-status="state">see <a href="/status">its status</a></dd></div>
<div><dt>Newest stored slot</dt><dd data-status="slot">–</dd></div>
<div><dt>Its block time</dt><dd data-status="time">–</dd></div>
<div><dt>Behind the chain</dt><dd data-status="lag">–</dd></div>
<div><dt>Feed connections</dt><dd data-status="connections">–</dd></div>
</dl>
<h2>For programs</h2>
<p>Ask with an API key, which the dashboard gives to whoever connects a wallet: <code>curl -H 'Authorization: Bearer tw_...' .../trades</code></p>
<ul>
<li><a href="/docs/rest">Every endpoint</a>, to be tried in place · <a href="/openapi.json">openapi.json</a></li>
<li><a href="/docs/feed">Every message of the live feed</a> · <a href="/asyncapi.json">asyncapi.json</a></li>
<li><a href="/status">How far each stage is</a></li>
</ul>
</main>`,
  )
}
