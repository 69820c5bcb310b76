import type { ApiMiddleware } from './context.ts'

/** Header fields of every response: the API version, and that browsers must treat it as data. */
export const HEADERS = {
  'API-Version': '1',
  'Cache-Control': 'private, no-cache',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const

/** Sets the header fields of every response. */
export const headers: ApiMiddleware = function headers(ctx, next) {
  for (const [name, value] of FIELDS) ctx.res.setHeader(name, value)
  return next()
}

const FIELDS = Object.entries(HEADERS)

const DENIED = [
  ...[
    'accelerometer',
    'autoplay',
    'camera',
    'clipboard-read',
    'display-capture',
    'encrypted-media',
  ],
  ...['fullscreen', 'gamepad', 'geolocation', 'gyroscope', 'hid', 'idle-detection', 'local-fonts'],
  ...['magnetometer', 'microphone', 'midi', 'payment', 'picture-in-picture'],
  ...['publickey-credentials-get', 'screen-wake-lock', 'serial', 'usb', 'xr-spatial-tracking'],
]

/**
 * Additional header fields of pages: windows of other origins cannot reach them, and the only
 * device feature they may use is writing to the clipboard.
 */
export const PAGE_HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': ['clipboard-write=(self)', ...DENIED.map((name) => `${name}=()`)].join(
    ', ',
  ),
}
