import { useState } from 'preact/hooks'
import { paymentUrl, unitsText } from '../amounts.ts'
import type { Plans } from '../answers.ts'
import { CopyButton } from '../components.tsx'
import { useSession } from '../session.ts'
import { payUsdtOf, useConnected, walletWords } from '../wallets.ts'
import { QrCode } from './qr-code.tsx'

/** Where to pay, as text and as a code; `units`: how much, in smallest units, null: not said yet. `paid` is called when the wallet has paid by itself. */
export function Payment(props: {
  readonly to: string
  readonly units: bigint | null
  readonly plans: Plans
  readonly label: string
  readonly paid: () => void
}) {
  const { to, units, plans, label, paid } = props
  const { usdt_mint: mint, usdt_decimals: decimals } = plans
  const amount = units === null ? null : unitsText(units, decimals)
  const wallet = useSession()?.wallet
  const shown = useConnected()?.account.address
  return (
    <div class="payment">
      <QrCode
        text={paymentUrl({ to, mint, amount, label })}
        label={`QR code of a payment of ${amount === null ? 'USDT' : `${amount} USDT`} for ${label}`}
      />
      <div>
        <dl class="figures">
          <div>
            <dt>Send</dt>
            <dd>
              {amount === null ? 'any amount of USDT' : <strong>{amount} USDT</strong>} on Solana
            </dd>
          </div>
          <div>
            <dt>To this address</dt>
            <dd>
              <code class="address">{to}</code> <CopyButton text={to} what="address" />
            </dd>
          </div>
          <div>
            <dt>Token</dt>
            <dd>
              <code class="address">{mint}</code>
            </dd>
          </div>
        </dl>
        <p class="notice">
          Pay from the wallet that you are signed in with. What comes from another wallet, or from
          an exchange, cannot be matched to your account. Other tokens are not taken.
        </p>
        {shown !== undefined && shown !== wallet && (
          <p class="failure" role="alert">
            Your wallet has turned to another account. Go back to{' '}
            <code class="address">{wallet}</code> before you pay.
          </p>
        )}
        <PayByWallet to={to} units={units} paid={paid} />
      </div>
    </div>
  )
}

/** Only where the connected wallet can pay by itself, as the simulator's can; other wallets are told by address or code. */
function PayByWallet(props: {
  readonly to: string
  readonly units: bigint | null
  readonly paid: () => void
}) {
  const { to, units, paid } = props
  const session = useSession()
  const [said, setSaid] = useState('')
  const [isPaying, setIsPaying] = useState(false)
  const wallet = session && payUsdtOf(session.connected)
  if (session === null || wallet === null) return null
  const pay = async () => {
    if (isPaying) return
    if (units === null) return setSaid('Say first how much.')
    setIsPaying(true)
    setSaid('Paying …')
    try {
      await wallet.pay({ account: session.connected.account, to, rawAmount: units })
      setSaid('Sent.')
      paid()
    } catch (error) {
      setSaid(`Not paid: ${walletWords(error)}.`)
    }
    setIsPaying(false)
  }
  return (
    <p class="actions">
      <button type="button" class="primary" aria-disabled={isPaying} onClick={() => void pay()}>
        Pay with the {session.connected.wallet.name.replace(/^./, (first) => first.toLowerCase())}
      </button>
      <span role="status">{said}</span>
    </p>
  )
}
