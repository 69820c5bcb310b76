import { userInfo } from 'node:os'

/** The operating-system user who ran a command, as the operator's process reports it. */
export interface Caller {
  /** The user's name; with sudo, also the calling user's. Empty where the system has no name. */
  readonly user: string
  /** Null where the system has no numeric users. */
  readonly uid: number | null
}

/** The user of this process. */
export function currentCaller(): Caller {
  try {
    const { username, uid } = userInfo()
    const { SUDO_USER } = process.env
    const user = SUDO_USER ? `${username} (sudo by ${SUDO_USER})` : username
    return { user, uid: uid < 0 ? null : uid }
  } catch {
    // A container may run as a user id without a name.
    return { user: '', uid: process.getuid?.() ?? null }
  }
}

/** Encodes a caller for an HTTP header. */
export function encodeCaller(caller: Caller): string {
  return encodeURIComponent(JSON.stringify(caller))
}

/** Decodes the text of `encodeCaller`. Any other text gives an unknown caller. */
export function decodeCaller(text: string | string[] | undefined): Caller {
  try {
    const { user, uid } = JSON.parse(decodeURIComponent(String(text))) as Partial<Caller>
    return {
      user: typeof user === 'string' ? user.slice(0, 100) : '',
      uid: typeof uid === 'number' && uid >>> 0 === uid ? uid : null,
    }
  } catch {
    return { user: '', uid: null }
  }
}
