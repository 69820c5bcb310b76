/** Most characters (code points) that are kept of a symbol and of a name. */
export const MAX_SYMBOL = 16
export const MAX_NAME = 64

/** Bytes looked at: what is kept needs four a character, the rest is room for what is taken out. */
const MOST_BYTES = 1024

// What nobody sees, or what moves what others see: controls, format characters (bidirectional overrides and isolates, zero-width spaces and joiners),
// whatever is to be shown as nothing (variation selectors, fillers, tags), private use, halves of surrogate pairs, code points that never are characters,
// the mark of bytes that were no UTF-8, and annotations of objects. Unicode 15, sections 23.2 to 23.8; property names as in UAX #44.
const UNSEEN =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\uFFF9-\uFFFD]/gu
/** Spaces of any width and lines of any kind; a braille cell without dots looks like one. */
const SPACES = /[\s\p{Z}\u2800]+/gu

/**
 * Text that a stranger chose, as it may be stored and passed on (rule J8): one line, normalised (NFC), without characters that nobody sees or that
 * turn what stands around them, at most `most` characters. It still is a stranger's text: whoever shows it escapes it.
 *
 * Example: `'  $W\u202eIF\u0000\u0000'` gives `'$WIF'`. Cleaning what is clean changes nothing.
 */
export function cleanMintText(raw: string | Uint8Array, most: number): string {
  const text =
    typeof raw === 'string' ? raw.slice(0, MOST_BYTES) : decoder.decode(raw.subarray(0, MOST_BYTES))
  const seen = text.replace(/\p{Cc}/gu, (control) => (/\s/.test(control) ? ' ' : ''))
  const line = seen.replace(UNSEEN, '').normalize('NFC').replace(SPACES, ' ').trim()
  return [...line].slice(0, most).join('').trim()
}

const decoder = new TextDecoder('utf-8')
