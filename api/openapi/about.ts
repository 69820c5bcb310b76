/** Introduction of the REST documents, in Markdown. */
export const ABOUT = `Activity and performance of a fixed set of tracked Solana wallets. Each wallet is known only by its alias, \`W1\` to \`Wn\`.

**Authentication.** Product endpoints need \`Authorization: Bearer <API_KEY>\`. Never send the key
in the URL. \`/me\` and \`/billing\` need a dashboard token instead, which \`POST /auth/login\`
issues for a wallet's signature. A key is not accepted as a token, nor a token as a key.

**Form of a key**, for secret scanners: \`tw_[1-9A-HJ-NP-Za-km-z]{32,50}\`. After \`tw_\` comes the
base58 of 36 bytes: 32 random bytes, then the first 4 bytes of SHA-256(SHA-256(\`tw_\` + the 32
bytes)). Older keys have only the 32 bytes, and stay valid. Any other text is refused without a
look-up.

**Invalid credentials** have their own limit: by default 60 a minute for each client address (IPv6:
each /64). Beyond it, every key that is not already known to be valid gets 429 \`rate_limited\` with
\`RateLimit-Policy: "auth"\`. Keys in use and valid tokens still work. Text that cannot be a key or
a token is 401 and does not count.

**Credits.** Each answer has its cost (\`X-Credits-Cost\`) and the credits left
(\`X-Credits-Remaining\`). Only 2xx and 304 are charged; a refusal costs nothing.

**Numbers.** Times are unix seconds. Raw amounts (\`*_amount\`, \`base_*\`) are integers in smallest
units, as decimal strings of any length. SOL figures, percentages and means are JSON numbers: the
double nearest to the exact value.
For WSOL the raw amount is in lamports (divide by 10^9). Native SOL counts as WSOL. Quote coins are WSOL, USDC and USDT. Every other token is an ordinary token, including other stablecoins and staked SOL.

**Privacy.** The operator may perturb served figures, so that they do not identify a wallet by
themselves. Amounts of trades then differ by up to 10%, and their times are 3 to 16 s earlier, the
same on every channel and for every customer. SOL balances and sums of a wallet's metrics have two
significant digits; status, score and means are computed from them. \`computed_at\` is a full
minute.

**Swaps and transfers.** Holdings, held tokens and aggregates count swaps only: held = bought -
sold. FIFO lots, and so the metrics, also count transfers: a token received by transfer costs zero,
and a token sent realises no profit. So the two
differ for airdrops. What leaves a wallet and comes back (liquidity, staking, lending) comes back at zero cost.

**Freshness.** Every answer is as of the newest completely stored slot (\`GET /status\`), some
hundred milliseconds behind the chain. Ages end at its block time. \`ETag\` identifies the answer; a
request with \`If-None-Match\` gets 304 until it changes.

**Lists.** Lists with \`page\` count from 1; a page past the end is empty. Lists with \`cursor\` go
backwards in time: pass \`next_cursor\` as \`cursor\` until \`has_more\` is false. New items appear
only at the head, so paging skips and repeats nothing. Cursors are opaque.

**Parameters.** A value that is not allowed is refused with 400 \`invalid_parameter\`, never
clamped. Unknown parameters are ignored. A query string of more than 2,048 bytes is refused in the
same way. If several refusals apply, the answer is the first of: 404 (path), 405, 429 (client
address), 401, 403 \`account_disabled\`, 429 (account), 413, 415, 400, 402, 403, 404 (wallet), 503.

**Overload.** While the service is overloaded, some product calls get 503 \`unavailable\` before any
other refusal. They cost nothing. Wait for the time in \`Retry-After\`.

**Refusals** are \`application/problem+json\`. Programs should decide by \`code\`.

**Limits.** Requests are limited by client address (policy \`default\`) and by account, from any
address. An account has limits per minute (\`account\`; \`dashboard\` for \`/me\` and \`/billing\`)
and for requests at the same time (\`account-concurrent\`, \`dashboard-concurrent\`).
\`RateLimit-Policy\` and \`RateLimit\` list the policies per minute and what is left. A 429 names
only the policy that refused, and \`Retry-After\` says how long to wait.

**Live trades** come over \`GET /ws\`, described by \`/asyncapi.json\` and [/docs/feed](/docs/feed), or
to a URL of yours: \`POST /me/webhooks\`, described by [/docs/webhooks.md](/docs/webhooks.md).

**Versions.** Paths have no version; the header \`API-Version\` has. Within a major version, changes
only add. \`Deprecation\` and \`Sunset\` announce removals.`
