import type { ApiMiddleware } from './context.ts'

/** What every answer says: the version of the API, and to browsers that it is data and nothing else. */
export const HEADERS = {
  'API-Version': '1',
  'Cache-Control': 'private, no-cache',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const

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
 * What pages say besides: no window of another origin can reach them, and they use nothing of the
 * device but the clipboard, to write.
 */
export const PAGE_HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': ['clipboard-write=(self)', ...DENIED.map((name) => `${name}=()`)].join(
    ', ',
  ),
}
