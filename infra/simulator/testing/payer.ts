import { randomBytes } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519'
import {
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js'
import bs58 from 'bs58'
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
import { signVersion1 } from './sign-version-1.ts'

/** The mint of USDT. */
export const USDT_PUBKEY = new PublicKey(USDT_MINT.bytes)
const TOKEN_PROGRAM = new PublicKey(TOKEN.bytes)

/** The version of a customer's transactions. */
export type PayerVersion = 'legacy' | 1

/** A customer with a key pair, who signs transactions and sends them over RPC, as a wallet does. */
export class Payer {
  readonly key = Keypair.generate()
  readonly address = this.key.publicKey.toBase58()
  /** The customer's associated USDT account. */
  readonly usdt = associatedAccount(this.key.publicKey, USDT_PUBKEY)
  readonly #simulator: Pick<Simulator, 'rpcUrl'>
  readonly #version: PayerVersion

  constructor(simulator: Pick<Simulator, 'rpcUrl'>, version: PayerVersion) {
    this.#simulator = simulator
    this.#version = version
  }

  /** Signs a text as a wallet's `signMessage` does. Returns the signature in base58. */
  signText(text: string): string {
    return bs58.encode(ed25519.sign(Buffer.from(text), this.key.secretKey.subarray(0, 32)))
  }

  /** Calls an RPC method; rejects with its error. */
  async ask(method: string, ...params: unknown[]): Promise<unknown> {
    const answer = await callRpc(this.#simulator, method, ...params)
    if (typeof answer === 'object' && answer !== null && 'error' in answer)
      throw new Error(JSON.stringify(answer.error))
    return answer
  }

  /** Signs and sends a transaction; returns the signature. Rejects with RPC's error. */
  async send(
    instructions: readonly TransactionInstruction[],
    options: { readonly signers?: readonly Keypair[]; readonly skipPreflight?: boolean } = {},
  ): Promise<string> {
    const { signers = [], skipPreflight = false } = options
    const tx = new Transaction().add(...instructions)
    tx.recentBlockhash = new PublicKey(randomBytes(32)).toBase58() // makes each transaction unique
    tx.feePayer = this.key.publicKey
    const wire = this.#sign(tx, [this.key, ...signers])
    return String(await this.ask('sendTransaction', wire, { encoding: 'base64', skipPreflight }))
  }

  /** The signed bytes of a transaction, base64. */
  #sign(tx: Transaction, signers: readonly Keypair[]): string {
    if (this.#version === 1) return signVersion1(tx, signers)
    tx.sign(...signers)
    return tx.serialize().toString('base64')
  }

  /** Sends raw units of USDT to the associated account of an owner; opens it first. */
  pay(owner: string, amount: bigint): Promise<string> {
    const { publicKey } = this.key
    const opened = createAssociated(publicKey, new PublicKey(owner), USDT_PUBKEY)
    return this.send([opened.instruction, transfer(this.usdt, opened.account, publicKey, amount)])
  }

  /** Opens an account that is not the associated one. */
  openAccount(
    owner: PublicKey,
    options: { mint?: PublicKey; program?: PublicKey; space?: number } = {},
  ): Promise<PublicKey> {
    const { mint = USDT_PUBKEY, program = TOKEN_PROGRAM, space = 165 } = options
    return this.#create(space, program, (account) =>
      initializeAccount(account, mint, owner, program),
    )
  }

  /** Creates a mint of SPL Token with this customer as its authority. */
  makeMint(decimals: number): Promise<PublicKey> {
    return this.#create(82, TOKEN_PROGRAM, (mint) =>
      initializeMint(mint, this.key.publicKey, decimals),
    )
  }

  async #create(
    space: number,
    programId: PublicKey,
    initialize: (account: PublicKey) => TransactionInstruction,
  ): Promise<PublicKey> {
    const account = Keypair.generate()
    const create = SystemProgram.createAccount({
      fromPubkey: this.key.publicKey,
      newAccountPubkey: account.publicKey,
      lamports: rentOf(space),
      space,
      programId,
    })
    await this.send([create, initialize(account.publicKey)], { signers: [account] })
    return account.publicKey
  }
}

/** Creates a customer with SOL and raw units of USDT from the simulator's faucet. */
export async function createPayer(
  simulator: Pick<Simulator, 'rpcUrl'>,
  usdt: bigint,
  version: PayerVersion = 'legacy',
): Promise<Payer> {
  const payer = new Payer(simulator, version)
  await payer.ask('requestAirdrop', payer.address, 10_000_000_000)
  if (usdt > 0n) await payer.ask('requestUsdtAirdrop', payer.address, Number(usdt))
  return payer
}

/** Rent-exempt minimum of an account of `space` bytes, in lamports. */
export function rentOf(space: number): number {
  return (space + 128) * 6960
}
