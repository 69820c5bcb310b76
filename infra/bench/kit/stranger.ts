import { createHash } from 'node:crypto'
import { type Address, addressFromBytes } from '../../../pipeline/domain/address.ts'

/** An address that is in no transaction. Each number has one of its own. */
export function strangerOf(number: number): Address {
  return addressFromBytes(createHash('sha256').update(String(number)).digest())
}
