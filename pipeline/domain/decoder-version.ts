/**
 * Version of the decoder, stored with every event and every kept transaction (rule K4). Raised by one with each change of `pipeline/decode` or of the
 * normalisers of `pipeline/ingest` after which a recorded transaction gives other records than before: a venue added, a rule mended, a reason renamed. Not with
 * a change of speed, of names in the code, or of what is logged. `pipeline/decode/decoder-version.test.ts` reminds of it; the changelog says what it changed
 * and that `operator redecode` applies it to history.
 */
export const DECODER_VERSION = 2
