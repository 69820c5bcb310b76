/*
 * Prints each message of the feed as a line of JSON: `node print-feed.mjs URL KEY [AFTER]`.
 * `npm run simulate -- --packages` runs this beside the installed tarball.
 */

import { TrackedWallets } from 'tracked-wallets-client'

const [url, apiKey, after] = process.argv.slice(2)
const service = new TrackedWallets({ url, apiKey })
const say = (told) => process.stdout.write(`${JSON.stringify(told)}\n`)
const onNotice = ({ type }) => say({ kind: type })
for await (const message of service.follow({ after, retryMs: 50, onNotice })) say(message)
