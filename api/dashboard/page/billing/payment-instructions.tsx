import { useState } from 'preact/hooks'
import { formatUnits, solanaPayUrl } from '../amounts.ts'
import { usdtPayerOf, useConnectedWallet, walletErrorText } from '../browser-wallets.ts'
import { CopyButton } from '../components/copy-button.tsx'
import type { PlansResponse } from '../responses.ts'
import { useSession } from '../session.ts'
import { QrCode } from './qr-code.tsx'

interface Payment {
  /** Payment address. */
  readonly to: string
  /** Raw units of USDT. Null if no valid amount is entered. */
  readonly units: bigint | null
}

/** Says where and how to pay: QR code, amount, address, and warnings. */
export function PaymentInstructions(
  props: Payment & {
    readonly plans: PlansResponse
    /** What is bought, for the QR code: “API credits”. */
    readonly label: string
    /** Called when the test wallet has sent the payment. */
    readonly paid: () => void
  },
) {
  const { to, units, plans, label, paid } = props
  const { usdt_mint: mint, usdt_decimals: decimals } = plans
  const amount = units === null ? null : formatUnits(units, decimals)
  return (
    <div class="payment">
      <QrCode
        text={solanaPayUrl({ to, mint, amount, label })}
        label={`QR code for a payment of ${amount === null ? 'USDT' : `${amount} USDT`} for ${label}`}
      />
      <div>
        <PaymentDetails to={to} mint={mint} amount={amount} />
        <p class="notice">
          Pay from the wallet that you signed in with. The service cannot match payments from other
          wallets or from exchanges to your account. It accepts USDT on Solana only.
        </p>
        <WrongAccountWarning />
        <PayWithTestWallet to={to} units={units} paid={paid} />
      </div>
    </div>
  )
}

function PaymentDetails(props: {
  readonly to: string
  readonly mint: string
  readonly amount: string | null
}) {
  const { to, mint, amount } = props
  return (
    <dl class="figures">
      <div>
        <dt>Amount</dt>
        <dd>{amount === null ? 'any amount of USDT' : <strong>{amount} USDT</strong>} on Solana</dd>
      </div>
      <div>
        <dt>Payment address</dt>
        <dd>
          <code class="address">{to}</code> <CopyButton text={to} what="address" />
        </dd>
      </div>
      <div>
        <dt>USDT token address</dt>
        <dd>
          <code class="address">{mint}</code>
        </dd>
      </div>
    </dl>
  )
}

/** Warns if the wallet has switched to an account other than the one of the session. */
function WrongAccountWarning() {
  const wallet = useSession()?.wallet
  const selected = useConnectedWallet()?.account.address
  if (selected === undefined || selected === wallet) return null
  return (
    <p class="failure" role="alert">
      Your wallet has switched to another account. Switch back to{' '}
      <code class="address">{wallet}</code> before you pay.
    </p>
  )
}

/** A button that pays with the simulator's test wallet. Renders nothing for other wallets. */
function PayWithTestWallet(props: Payment & { readonly paid: () => void }) {
  const { to, units, paid } = props
  const session = useSession()
  const [status, setStatus] = useState('')
  const [isPaying, setIsPaying] = useState(false)
  const payer = session && usdtPayerOf(session.connected)
  if (session === null || payer === null) return null
  const pay = async () => {
    if (isPaying) return
    if (units === null) return setStatus('Enter an amount first.')
    setIsPaying(true)
    setStatus('Paying…')
    try {
      await payer.pay({ account: session.connected.account, to, rawAmount: units })
      setStatus('Payment sent.')
      paid()
    } catch (error) {
      setStatus(`The payment failed: ${walletErrorText(error)}.`)
    }
    setIsPaying(false)
  }
  return (
    <p class="actions">
      <button type="button" class="primary" aria-disabled={isPaying} onClick={() => void pay()}>
        Pay with the {session.connected.wallet.name.replace(/^./, (first) => first.toLowerCase())}
      </button>
      <span role="status">{status}</span>
    </p>
  )
}
