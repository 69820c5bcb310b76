/** Maximum number of characters (code points) of a token symbol. */
export const MAX_SYMBOL = 16
/** Maximum number of characters (code points) of a token name. */
export const MAX_NAME = 64

/**
 * Input beyond this many bytes is ignored. A name takes 256; the rest allows for removed
 * characters.
 */
const MAX_INPUT_BYTES = 1024

// Characters that are invisible or that change how other characters are displayed:
// - controls;
// - format characters (bidirectional overrides and isolates, zero-width spaces and joiners);
// - default ignorable code points (variation selectors, fillers, tags);
// - private use characters, unpaired surrogates, noncharacters;
// - the replacement character for invalid UTF-8, and object annotations.
// Unicode 15, sections 23.2 to 23.8; property names as in UAX #44.
const INVISIBLE =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\uFFF9-\uFFFD]/gu
/** Spaces of any width, line breaks, and the empty braille cell, which looks like a space. */
const SPACES = /[\s\p{Z}\u2800]+/gu

/**
 * Cleans a symbol or name that the creator of a token chose (rule J8). Returns one line in NFC of
 * at most `maxLength` characters, without characters that are invisible or that change how others
 * are displayed. Idempotent. The result is still untrusted: escape it for display.
 *
 * Example: `'  $W\u202eIF\u0000\u0000'` becomes `'$WIF'`.
 */
export function cleanMintText(raw: string | Uint8Array, maxLength: number): string {
  const text =
    typeof raw === 'string'
      ? raw.slice(0, MAX_INPUT_BYTES)
      : decoder.decode(raw.subarray(0, MAX_INPUT_BYTES))
  const spaced = text.replace(/\p{Cc}/gu, (control) => (/\s/.test(control) ? ' ' : ''))
  const line = spaced.replace(INVISIBLE, '').normalize('NFC').replace(SPACES, ' ').trim()
  return [...line].slice(0, maxLength).join('').trim()
}

const decoder = new TextDecoder('utf-8')
