import { readFileSync } from 'node:fs'
import { print } from '../kit/figures.ts'
import { type ArrivalOptions, arrivals } from './arrivals.ts'

/**
 * The load generator, as a process of its own with its own CPU. Sends requests as the file
 * `OPTIONS` says. Prints `counting=` when the first request that counts is due, `sent=` after the
 * last, and `result=` with the figures of `arrivals` without its list of times.
 */
const options = JSON.parse(readFileSync(process.env.OPTIONS ?? '', 'utf8')) as ArrivalOptions
const { times, ...result } = await arrivals(options, {
  counting: () => print('counting=1'),
  allSent: () => print('sent=1'),
})
print(`result=${JSON.stringify(result)}`)
