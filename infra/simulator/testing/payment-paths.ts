import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import { derivedSigner } from '../market/key.ts'
import { TOKEN_2022 } from '../market/programs.ts'
import {
  approve,
  createAssociated,
  initializeAccount,
  mintTo,
  setOwner,
  transfer,
  transferChecked,
} from '../payments/token-instructions.ts'
import type { Simulator } from '../simulator.ts'
import { forwarderProgram } from './forwarder-program.ts'
import { createPayer, type Payer, type PayerVersion, rentOf, USDT_PUBKEY } from './payer.ts'

/** A way in which USDT reaches, or seems to reach, the payment address of credits. */
export interface PaymentPath {
  readonly title: string
  /**
   * Sends the transactions; returns the customer, and the amount received from him by each
   * transaction, in raw units.
   */
  run(
    stage: PaymentStage,
  ): Promise<{ readonly customer: Payer; readonly arrived: readonly bigint[] }>
}

/** Environment in which payments are tested. */
export interface PaymentStage {
  readonly simulator: Simulator
  /** The payment address of credits, and its associated account, which is open. */
  readonly owner: PublicKey
  readonly account: PublicKey
  /** The owner of the payment address's key. */
  readonly ownerKey: Keypair
  /** A program that calls the Token program. */
  readonly forwarder: PublicKey
  /** The version of the transactions that customers send. */
  readonly version: PayerVersion
}

const USDT_PER_CUSTOMER = 1_000_000_000n

/** Opens the payment address's account and loads the program, for a simulator with this seed. */
export async function createPaymentStage(simulator: Simulator, seed = 1): Promise<PaymentStage> {
  const owner = new PublicKey(simulator.paymentAddresses.credits)
  const opener = await createPayer(simulator, 0n)
  const { account, instruction } = createAssociated(opener.key.publicKey, owner, USDT_PUBKEY)
  await opener.send([instruction])
  const forwarder = Keypair.generate().publicKey
  const bank = await simulator.payments.bank()
  bank.addProgram(forwarder, forwarderProgram())
  const ownerKey = Keypair.fromSeed(derivedSigner(seed, 'payments/credits').secret)
  return { simulator, owner, account, ownerKey, forwarder, version: 'legacy' }
}

/**
 * All payment paths that the service must distinguish (rule E5). Each sends transactions that the
 * simulator executes.
 */
export const PAYMENT_PATHS: readonly PaymentPath[] = [
  path('`transfer` to the associated account', async ({ account }, customer) => {
    await customer.send([from(customer, account, 2_000_000n)])
    return [2_000_000n]
  }),
  path('`transferChecked`', async ({ account }, customer) => {
    const { publicKey } = customer.key
    await customer.send([
      transferChecked(customer.usdt, USDT_PUBKEY, account, publicKey, 3_000_000n, 6),
    ])
    return [3_000_000n]
  }),
  path('inside another program', async ({ account, forwarder }, customer) => {
    const called = from(customer, account, 4_000_000n)
    const program = { pubkey: called.programId, isSigner: false, isWritable: false }
    const keys = [...called.keys, program]
    await customer.send([
      new TransactionInstruction({ programId: forwarder, keys, data: called.data }),
    ])
    return [4_000_000n]
  }),
  path('several in one transaction are one sum', async ({ account }, customer) => {
    const parts = [500n, 600n, 900_000n]
    await customer.send(parts.map((amount) => from(customer, account, amount)))
    return [901_100n]
  }),
  path('several transactions, each rounded on its own', async ({ account }, customer) => {
    await customer.send([from(customer, account, 1_999n)])
    await customer.send([from(customer, account, 1_001n)])
    return [1_999n, 1_001n]
  }),
  path('two senders in one transaction, each his own', async (stage, customer) => {
    const other = await payerOf(stage, USDT_PER_CUSTOMER)
    await customer.send(
      [from(other, stage.account, 7_000_000n), from(customer, stage.account, 5_000_000n)],
      { signers: [other.key] },
    )
    return [5_000_000n]
  }),
  path('signed by a delegate: it is his whose account it came from', async (stage, customer) => {
    const delegate = await payerOf(stage, 0n)
    const { publicKey } = delegate.key
    await customer.send([approve(customer.usdt, publicKey, customer.key.publicKey, 6_000_000n)])
    await delegate.send([transfer(customer.usdt, stage.account, publicKey, 6_000_000n)])
    return [6_000_000n]
  }),
  path('signed as a delegate of another wallet: nothing', async (stage, customer) => {
    const other = await payerOf(stage, USDT_PER_CUSTOMER)
    const { publicKey } = customer.key
    await other.send([approve(other.usdt, publicKey, other.key.publicKey, 6_000_000n)])
    await customer.send([transfer(other.usdt, stage.account, publicKey, 6_000_000n)])
    return []
  }),
  path("to another account of the payment address's", async ({ owner }, customer) => {
    const account = await customer.openAccount(owner)
    await customer.send([from(customer, account, 8_000_000n)])
    return [8_000_000n]
  }),
  path('to an account that the same transaction opens', async ({ owner }, customer) => {
    const account = Keypair.generate()
    const create = SystemProgram.createAccount({
      fromPubkey: customer.key.publicKey,
      newAccountPubkey: account.publicKey,
      lamports: rentOf(165),
      space: 165,
      programId: TOKEN,
    })
    const open = initializeAccount(account.publicKey, USDT_PUBKEY, owner)
    await customer.send([create, open, from(customer, account.publicKey, 1_500_000n)], {
      signers: [account],
    })
    return [1_500_000n]
  }),
  path('from an account that is not the associated one', async ({ account }, customer) => {
    const own = await customer.openAccount(customer.key.publicKey)
    await customer.send([from(customer, own, 2_500_000n)])
    await customer.send([transfer(own, account, customer.key.publicKey, 2_500_000n)])
    return [2_500_000n]
  }),
  path('from an account that the same transaction gives away', async (stage, customer) => {
    const { publicKey } = customer.key
    const own = await customer.openAccount(publicKey)
    const next = Keypair.generate().publicKey
    await customer.send([
      from(customer, own, 3_500_000n),
      transfer(own, stage.account, publicKey, 3_000_000n),
      setOwner(own, publicKey, next),
    ])
    return [3_000_000n]
  }),
  path('by giving the payment address the account itself: nothing', async (stage, customer) => {
    const { publicKey } = customer.key
    const own = await customer.openAccount(publicKey)
    await customer.send([from(customer, own, 3_500_000n), setOwner(own, publicKey, stage.owner)])
    return []
  }),
  path('sent back in the same transaction: only what stays', async (stage, customer) => {
    const back = transfer(stage.account, customer.usdt, stage.owner, 1_000_000n)
    await customer.send([from(customer, stage.account, 1_750_000n), back], {
      signers: [stage.ownerKey],
    })
    return [750_000n]
  }),
  path('another mint, whatever it calls itself: nothing', async (stage, customer) => {
    const mint = await customer.makeMint(6)
    const { publicKey } = customer.key
    const mine = createAssociated(publicKey, publicKey, mint)
    const paid = createAssociated(publicKey, stage.owner, mint)
    await customer.send([
      mine.instruction,
      paid.instruction,
      mintTo(mint, mine.account, publicKey, 90_000_000n),
      transferChecked(mine.account, mint, paid.account, publicKey, 90_000_000n, 6),
    ])
    return []
  }),
  path('a Token-2022 mint named USDT: nothing', async (stage, customer) => {
    const mint = await makeNamedMint(customer, 'USDT')
    const { publicKey } = customer.key
    const mine = createAssociated(publicKey, publicKey, mint, TOKEN_2022_PROGRAM)
    const paid = createAssociated(publicKey, stage.owner, mint, TOKEN_2022_PROGRAM)
    await customer.send([
      mine.instruction,
      paid.instruction,
      mintTo(mint, mine.account, publicKey, 90_000_000n, TOKEN_2022_PROGRAM),
      transferChecked(
        ...([mine.account, mint, paid.account, publicKey, 90_000_000n, 6] as const),
        TOKEN_2022_PROGRAM,
      ),
    ])
    return []
  }),
  path('from another wallet: nothing', async (stage, customer) => {
    const other = await payerOf(stage, USDT_PER_CUSTOMER)
    // The customer pays the fee and signs first, but another wallet owns the tokens.
    await customer.send([from(other, stage.account, 9_000_000n)], { signers: [other.key] })
    return []
  }),
  path('to somebody else: nothing', async (stage, customer) => {
    const other = await payerOf(stage, 1n)
    await customer.send([from(customer, other.usdt, 9_000_000n)])
    return []
  }),
  path('failed: nothing', async ({ account }, customer) => {
    const tooMuch = from(customer, account, USDT_PER_CUSTOMER)
    await customer.send([from(customer, account, 1_000_000n), tooMuch], { skipPreflight: true })
    return []
  }),
  path('one that fails after one that does not', async ({ account }, customer) => {
    await customer.send([from(customer, account, 1_250_000n)])
    await customer.send([from(customer, account, USDT_PER_CUSTOMER)], { skipPreflight: true })
    return [1_250_000n]
  }),
  {
    title: 'between accounts of the payment address, or from one to itself: nothing',
    async run(stage) {
      const { owner, ownerKey, account } = stage
      const customer = await payerOf(stage, USDT_PER_CUSTOMER)
      const second = await customer.openAccount(owner)
      await customer.send([from(customer, account, 1_000_000n)])
      const move = transfer(account, second, owner, 1_000_000n)
      const toItself = transfer(account, account, owner, 500_000n)
      await customer.send([toItself, move], { signers: [ownerKey] })
      return { customer, arrived: [1_000_000n] }
    },
  },
  path('fractions of a credit are rounded down', async ({ account }, customer) => {
    await customer.send([from(customer, account, 12_345_678n)])
    return [12_345_678n]
  }),
  path('less than a credit', async ({ account }, customer) => {
    await customer.send([from(customer, account, 999n)])
    return [999n]
  }),
]

function path(
  title: string,
  pay: (stage: PaymentStage, customer: Payer) => Promise<readonly bigint[]>,
): PaymentPath {
  return {
    title,
    async run(stage) {
      const customer = await payerOf(stage, USDT_PER_CUSTOMER)
      return { customer, arrived: await pay(stage, customer) }
    },
  }
}

/** A customer of the stage, with raw units of USDT. */
function payerOf({ simulator, version }: PaymentStage, usdt: bigint): Promise<Payer> {
  return createPayer(simulator, usdt, version)
}

const TOKEN_2022_PROGRAM = new PublicKey(TOKEN_2022.bytes)
const TOKEN = transfer(USDT_PUBKEY, USDT_PUBKEY, USDT_PUBKEY, 0n).programId

/** Transfers `amount` from the customer's associated account to `account`. */
function from(customer: Payer, account: PublicKey, amount: bigint): TransactionInstruction {
  return transfer(customer.usdt, account, customer.key.publicKey, amount)
}

/**
 * A Token-2022 mint with metadata: extension MetadataPointer (39, 0) to itself, `InitializeMint2`,
 * and `Initialize` of the metadata interface.
 */
async function makeNamedMint(maker: Payer, symbol: string): Promise<PublicKey> {
  const mint = Keypair.generate()
  const { publicKey } = mint
  const authority = maker.key.publicKey
  const data = (...parts: (Uint8Array | number[])[]) =>
    Buffer.concat(parts.map((part) => Uint8Array.from(part)))
  const text = (value: string) => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(value.length)
    return data(length, Buffer.from(value))
  }
  const call = (bytes: Buffer, ...more: PublicKey[]) =>
    new TransactionInstruction({
      programId: TOKEN_2022_PROGRAM,
      keys: [publicKey, ...more].map((pubkey) => ({
        pubkey,
        isSigner: pubkey.equals(authority),
        isWritable: true,
      })),
      data: bytes,
    })
  const create = SystemProgram.createAccount({
    fromPubkey: authority,
    newAccountPubkey: publicKey,
    space: 234,
    lamports: 50_000_000,
    programId: TOKEN_2022_PROGRAM,
  })
  const describe = data(
    ...[Buffer.from('d2e11ea258b84d8d', 'hex'), text('Tether USD'), text(symbol), text('')],
  )
  await maker.send(
    [
      create,
      call(data([39, 0], authority.toBytes(), publicKey.toBytes())),
      call(data([20, 6], authority.toBytes(), [0])),
      call(describe, authority, publicKey, authority),
    ],
    { signers: [mint] },
  )
  return publicKey
}
