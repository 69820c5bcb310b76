const DATABASE = 'test-wallet'
const STORE = 'keys'
const NAME = 'ed25519'

/**
 * Returns the Ed25519 key pair of this browser's test wallet, and creates it on the first call.
 * IndexedDB keeps it, so a reload finds the same account. The private key is not extractable:
 * pages can use it but cannot read it.
 */
export async function loadOrCreateKeys(): Promise<CryptoKeyPair> {
  const database = await open()
  try {
    const stored = await promised<CryptoKeyPair | undefined>(store(database, 'readonly').get(NAME))
    if (stored !== undefined) return stored
    const created = (await crypto.subtle.generateKey('Ed25519', false, [
      'sign',
      'verify',
    ])) as CryptoKeyPair // Ed25519 gives a pair
    await promised(store(database, 'readwrite').put(created, NAME))
    return created
  } finally {
    database.close()
  }
}

function open(): Promise<IDBDatabase> {
  const opening = indexedDB.open(DATABASE, 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE)
  return promised(opening)
}

function store(database: IDBDatabase, mode: IDBTransactionMode): IDBObjectStore {
  return database.transaction(STORE, mode).objectStore(STORE)
}

function promised<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
