import { wellKnown } from './key.ts'

/** Programs and fixed accounts of mainnet that transactions of the market name. */
export const SYSTEM = wellKnown('11111111111111111111111111111111')
export const TOKEN = wellKnown('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
export const TOKEN_2022 = wellKnown('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')
export const ASSOCIATED_TOKEN = wellKnown('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')
export const COMPUTE_BUDGET = wellKnown('ComputeBudget111111111111111111111111111111')
export const MEMO = wellKnown('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')
export const RENT_SYSVAR = wellKnown('SysvarRent111111111111111111111111111111111')
export const WSOL_MINT = wellKnown('So11111111111111111111111111111111111111112')
export const USDC_MINT = wellKnown('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v')
export const USDT_MINT = wellKnown('Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB')

/**
 * Rent-exempt minimum of a token account, in lamports: for 165 bytes, or 170 with the
 * immutable-owner extension of Token-2022.
 */
export const TOKEN_ACCOUNT_RENT = 2_039_280n
/** The same, for Token-2022. */
export const TOKEN_2022_ACCOUNT_RENT = 2_074_080n
