import { type Address, address } from '../domain/address.ts'

/**
 * A program on which nothing is traded: part of the chain, or infrastructure around it (rule B10).
 */
export type InfrastructureProgram =
  | { readonly kind: 'system'; readonly id: Address }
  | { readonly kind: 'token'; readonly id: Address; readonly token2022: boolean }
  | { readonly kind: 'other_infrastructure'; readonly id: Address }

/**
 * System, Token, Token-2022, Associated Token, Memo (two versions), Compute Budget, Lighthouse,
 * signature precompiles.
 */
export const INFRASTRUCTURE_PROGRAMS: readonly InfrastructureProgram[] = [
  { kind: 'system', id: address('11111111111111111111111111111111') },
  { kind: 'token', id: address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'), token2022: false },
  { kind: 'token', id: address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'), token2022: true },
  ...[
    'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
    'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
    'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
    'ComputeBudget111111111111111111111111111111',
    'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95',
    'Ed25519SigVerify111111111111111111111111111',
    'KeccakSecp256k11111111111111111111111111111',
    'Secp256r1SigVerify1111111111111111111111111',
  ].map((id) => ({ kind: 'other_infrastructure' as const, id: address(id) })),
]
