/** The major version of the API, as `API-Version` says it, and what was added since. */
export const VERSION = '1.0.0'

/** What every reader of the documents has to know first. Markdown. */
export const ABOUT = `Activity and performance of a fixed set of tracked Solana wallets, each known by its alias \`W1\` ... \`Wn\` alone.

**Authentication.** \`Authorization: Bearer <API_KEY>\`. The key is never taken from the URL. \`/me\` and \`/billing\` are asked with a token instead, which \`POST /auth/login\` gives for a wallet's signature; a key is no token, and a token no key.

**Credits.** Each answer says what it cost (\`X-Credits-Cost\`) and what is left (\`X-Credits-Remaining\`). Only 2xx and 304 cost; a refusal costs nothing.

**Numbers.** Times are unix seconds. Raw amounts (\`*_amount\`, \`base_*\`) are decimal strings of integers in smallest units, of any size. SOL figures, percentages and means are JSON numbers: the double nearest to the exact value.
For WSOL the raw amount is lamports (divide by 10^9). Native SOL counts as WSOL; quote coins are WSOL, USDC and USDT. Every other token is a token like any other, pegged coins and staked SOL too.

**Swaps and transfers.** Holdings, held tokens and aggregates count swaps alone: held = bought - sold. FIFO lots, and with them the metrics, know transfers too: what came by transfer costs zero, what was sent realises nothing. So the two
differ for airdrops, and what leaves a wallet and comes back (liquidity, staking, lending) comes back at zero cost.

**As of when.** Every answer is as of the newest wholly stored slot (\`GET /status\`), some hundred milliseconds behind the chain. Ages end at its block time. \`ETag\` stands for it; \`If-None-Match\` gets 304 until it moves.

**Lists.** Lists with \`page\` count from 1; a page past the end is empty. Lists with \`cursor\` are walked backwards in time: pass \`next_cursor\` until \`has_more\` is false. New items appear only at the head, so a walk skips and repeats nothing. A cursor is opaque.

**Parameters.** A value that is not allowed is refused with 400 \`invalid_parameter\`, never changed; unknown parameters are ignored. Where several refusals apply, the first of 404 (path), 405, 429, 401, 413, 415, 400, 402, 403, 404 (wallet), 503 is told.

**Refusals** are \`application/problem+json\` with a \`code\` to decide by.

**Live trades** come over \`GET /ws\`, described by \`/asyncapi.json\` and [/docs/feed](/docs/feed).

**Versions.** Paths carry none; \`API-Version\` does. Within a major version changes only add; \`Deprecation\` and \`Sunset\` announce removals.`
