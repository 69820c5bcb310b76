const DATABASE = 'test-wallet'
const STORE = 'keys'
const NAME = 'ed25519'

/** The key pair of this browser's test wallet, made at the first call. The private key cannot be read by any page, only used: it is kept as a wallet extension would keep it, so that a reload finds the same account. */
export async function keptKeys(): Promise<CryptoKeyPair> {
  const database = await open()
  try {
    const kept = await requested<CryptoKeyPair | undefined>(store(database, 'readonly').get(NAME))
    if (kept !== undefined) return kept
    const made = (await crypto.subtle.generateKey('Ed25519', false, [
      'sign',
      'verify',
    ])) as CryptoKeyPair // of an asymmetric algorithm
    await requested(store(database, 'readwrite').put(made, NAME))
    return made
  } finally {
    database.close()
  }
}

function open(): Promise<IDBDatabase> {
  const opening = indexedDB.open(DATABASE, 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE)
  return requested(opening)
}

function store(database: IDBDatabase, mode: IDBTransactionMode): IDBObjectStore {
  return database.transaction(STORE, mode).objectStore(STORE)
}

function requested<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
