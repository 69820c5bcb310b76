import { address } from '../../domain/address.ts'
import { opaqueSwaps, type Program } from '../program.ts'

/**
 * SolFi, a proprietary market maker, versions 1 and 2. Its instruction data is not published: a
 * call that moves two mints is a swap. A call that moves none is a price update.
 */
export const solfi: readonly Program[] = [
  'SoLFiHG9TfgtdUXUjWAxi3LtvYuFyDLVhBWxdMZxyCe',
  'SV2EYYJyRz2YhfXwXnhNAevDEui5Q6yrfyo13WtupPF',
].map((id) => ({
  name: 'solfi',
  id: address(id),
  kind: 'venue',
  isSwap: opaqueSwaps,
}))
