/** What every reader of the documents has to know first. Markdown. */
export const ABOUT = `Activity and performance of a fixed set of tracked Solana wallets, each known by its alias \`W1\` ... \`Wn\` alone.

**Authentication.** \`Authorization: Bearer <API_KEY>\`. The key is never taken from the URL. \`/me\` and \`/billing\` are asked with a token instead, which \`POST /auth/login\` gives for a wallet's signature; a key is no token, and a token no key.

**The form of a key**, for secret scanners: \`tw_[1-9A-HJ-NP-Za-km-z]{32,50}\`. After \`tw_\` stands the base58 of 36 bytes: 32 random ones, then the first 4 bytes of SHA-256(SHA-256(\`tw_\` + the 32 bytes)). A key of before that has the 32 bytes alone, and stays valid. Any other text is refused without a look-up.

**Invalid credentials** have a budget of their own: 60 a minute for each client address (IPv6: each /64), unless the operator set another. A client that used it up gets 429 \`rate_limited\` with \`RateLimit-Policy: "auth"\` for every key that is not already known to be valid; keys in use and valid tokens go on. A text that cannot be a key or a token costs nothing and stays 401.

**Credits.** Each answer says what it cost (\`X-Credits-Cost\`) and what is left (\`X-Credits-Remaining\`). Only 2xx and 304 cost; a refusal costs nothing.

**Numbers.** Times are unix seconds. Raw amounts (\`*_amount\`, \`base_*\`) are decimal strings of integers in smallest units, of any size. SOL figures, percentages and means are JSON numbers: the double nearest to the exact value.
For WSOL the raw amount is lamports (divide by 10^9). Native SOL counts as WSOL; quote coins are WSOL, USDC and USDT. Every other token is a token like any other, pegged coins and staked SOL too.

**Privacy.** The operator may serve figures that are not exact, so that they name no wallet by themselves: trades with amounts within 10% and times 3 to 16 s earlier, the same on every channel and for everybody; SOL balances and sums of a wallet's metrics with two significant digits, from which status, score and means are computed; \`computed_at\` as a full minute.

**Swaps and transfers.** Holdings, held tokens and aggregates count swaps alone: held = bought - sold. FIFO lots, and with them the metrics, know transfers too: what came by transfer costs zero, what was sent realises nothing. So the two
differ for airdrops, and what leaves a wallet and comes back (liquidity, staking, lending) comes back at zero cost.

**As of when.** Every answer is as of the newest wholly stored slot (\`GET /status\`), some hundred milliseconds behind the chain. Ages end at its block time. \`ETag\` stands for it; \`If-None-Match\` gets 304 until it moves.

**Lists.** Lists with \`page\` count from 1; a page past the end is empty. Lists with \`cursor\` are walked backwards in time: pass \`next_cursor\` until \`has_more\` is false. New items appear only at the head, so a walk skips and repeats nothing. A cursor is opaque.

**Parameters.** A value that is not allowed is refused with 400 \`invalid_parameter\`, never changed; unknown parameters are ignored. A query (all after \`?\`) of more than 2,048 bytes is refused in the same way. Where several refusals apply, the first of 404 (path), 405, 429 (client address), 401, 429 (account), 413, 415, 400, 402, 403, 404 (wallet), 503 is told.

**Refusals** are \`application/problem+json\` with a \`code\` to decide by.

**Limits.** Requests are limited by client address (policy \`default\`) and by account, whatever its addresses: by the minute (\`account\`; \`dashboard\` for \`/me\` and \`/billing\`) and under way at the same time (\`account-concurrent\`, \`dashboard-concurrent\`). \`RateLimit-Policy\` and \`RateLimit\` list the policies by the minute with what is left; a 429 names the policy that refuses it alone, and \`Retry-After\` says how long to wait.

**Live trades** come over \`GET /ws\`, described by \`/asyncapi.json\` and [/docs/feed](/docs/feed).

**Versions.** Paths carry none; \`API-Version\` does. Within a major version changes only add; \`Deprecation\` and \`Sunset\` announce removals.`
