import encodeQR from 'qr'

/** The width of the light margin that readers need around the code, in modules. */
const quiet = 4

/**
 * A QR code for a text. It is dark on light in every theme, because many readers accept nothing else. `label` describes
 * its content. `size` is a width class.
 */
export function QrCode({ text, label, size = 'size-52' }: { text: string; label: string; size?: string }) {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: quiet })
  const path = rows
    .flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : '')))
    .filter((part) => part !== '')
    .join('')
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      shapeRendering="crispEdges"
      className={`${size} max-w-full shrink-0 rounded-md border border-line`}
    >
      <rect width="100%" height="100%" fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
