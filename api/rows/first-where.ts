/** Returns the first index below `length` for which `isSo` is true, as for all later ones. */
export function firstWhere(length: number, isSo: (index: number) => boolean): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isSo(middle)) high = middle
    else low = middle + 1
  }
  return low
}
