import { randomBytes } from 'node:crypto'
import {
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js'
import { TOKEN, USDT_MINT } from '../market/programs.ts'
import {
  associatedAccount,
  createAssociated,
  initializeAccount,
  initializeMint,
  transfer,
} from '../payments/token-instructions.ts'
import type { Simulator } from '../simulator.ts'
import { callRpc } from './client.ts'

/** The mint of USDT. */
export const USDT_PUBKEY = new PublicKey(USDT_MINT.bytes)
const TOKEN_PROGRAM = new PublicKey(TOKEN.bytes)

/** A customer with a key pair, who signs transactions and sends them over RPC, as a wallet does. */
export interface Payer {
  readonly key: Keypair
  readonly address: string
  /** The customer's associated USDT account. */
  readonly usdt: PublicKey
  /** Signs and sends a transaction; returns the signature. Rejects with RPC's error. */
  send(
    instructions: readonly TransactionInstruction[],
    options?: { readonly signers?: readonly Keypair[]; readonly skipPreflight?: boolean },
  ): Promise<string>
  /** Sends raw units of USDT to the associated account of an owner; opens it first. */
  pay(owner: string, amount: bigint): Promise<string>
  /** Opens an account that is not the associated one. */
  openAccount(
    owner: PublicKey,
    options?: { mint?: PublicKey; program?: PublicKey; space?: number },
  ): Promise<PublicKey>
  /** Creates a mint of SPL Token with this customer as its authority. */
  makeMint(decimals: number): Promise<PublicKey>
}

/** Creates a customer with SOL and raw units of USDT from the simulator's faucet. */
export async function createPayer(
  simulator: Pick<Simulator, 'rpcUrl'>,
  usdt: bigint,
): Promise<Payer> {
  const key = Keypair.generate()
  const { publicKey } = key
  await ask('requestAirdrop', publicKey.toBase58(), 10_000_000_000)
  if (usdt > 0n) await ask('requestUsdtAirdrop', publicKey.toBase58(), Number(usdt))

  async function ask(method: string, ...params: unknown[]): Promise<unknown> {
    const answer = await callRpc(simulator, method, ...params)
    if (typeof answer === 'object' && answer !== null && 'error' in answer)
      throw new Error(JSON.stringify(answer.error))
    return answer
  }

  async function send(
    instructions: readonly TransactionInstruction[],
    options: { readonly signers?: readonly Keypair[]; readonly skipPreflight?: boolean } = {},
  ): Promise<string> {
    const { signers = [], skipPreflight = false } = options
    const tx = new Transaction().add(...instructions)
    tx.recentBlockhash = new PublicKey(randomBytes(32)).toBase58() // makes each transaction unique
    tx.feePayer = publicKey
    tx.sign(key, ...signers)
    const wire = tx.serialize().toString('base64')
    return String(await ask('sendTransaction', wire, { encoding: 'base64', skipPreflight }))
  }

  const usdtAccount = associatedAccount(publicKey, USDT_PUBKEY)
  return {
    key,
    address: publicKey.toBase58(),
    usdt: usdtAccount,
    send,
    async pay(owner, amount) {
      const { account, instruction } = createAssociated(
        publicKey,
        new PublicKey(owner),
        USDT_PUBKEY,
      )
      return send([instruction, transfer(usdtAccount, account, publicKey, amount)])
    },
    async openAccount(owner, { mint = USDT_PUBKEY, program = TOKEN_PROGRAM, space = 165 } = {}) {
      const account = Keypair.generate()
      const create = SystemProgram.createAccount({
        fromPubkey: publicKey,
        newAccountPubkey: account.publicKey,
        lamports: rentOf(space),
        space,
        programId: program,
      })
      await send([create, initializeAccount(account.publicKey, mint, owner, program)], {
        signers: [account],
      })
      return account.publicKey
    },
    async makeMint(decimals) {
      const mint = Keypair.generate()
      const create = SystemProgram.createAccount({
        fromPubkey: publicKey,
        newAccountPubkey: mint.publicKey,
        lamports: rentOf(82),
        space: 82,
        programId: TOKEN_PROGRAM,
      })
      await send([create, initializeMint(mint.publicKey, publicKey, decimals)], { signers: [mint] })
      return mint.publicKey
    },
  }
}

/** Rent-exempt minimum of an account of so many bytes, in lamports. */
export function rentOf(space: number): number {
  return (space + 128) * 6960
}
