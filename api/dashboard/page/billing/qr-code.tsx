import { encodeQR } from 'qr'

/** A QR code as SVG. It is dark on light in both themes, with the quiet zone that scanners need. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: 4 })
  const size = rows.length
  return (
    <svg class="qr" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`}>
      <path class="qr-light" d={`M0 0h${size}v${size}H0z`} />
      <path class="qr-dark" d={qrPath(rows)} />
    </svg>
  )
}

/** Returns the SVG path of the dark modules, one subpath for each horizontal run. */
function qrPath(rows: readonly (readonly boolean[])[]): string {
  const runs: string[] = []
  for (const [y, row] of rows.entries()) {
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue
      const start = x
      while (row[x + 1]) x++
      runs.push(`M${start} ${y}h${x + 1 - start}v1h${start - x - 1}z`)
    }
  }
  return runs.join('')
}
