/**
 * Version of the decoder, stored with every event and every kept transaction (rule K4).
 *
 * Raise it by one with each change of `pipeline/decode` or of the normalisers of `pipeline/ingest`
 * after which a recorded transaction gives other records: a venue added, a rule fixed, a reason
 * renamed. Changes of speed, code names or logging do not count.
 *
 * `pipeline/decode/decoder-version.test.ts` fails when it was forgotten. Add a line to the
 * changelog that says what changed and that `operator redecode` applies it to history.
 */
export const DECODER_VERSION = 4
