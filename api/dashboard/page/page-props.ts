/** Props of every page component. */
export interface PageProps {
  /** Path parameters by name: `{ alias: 'W1' }` for `/wallets/:alias`. */
  readonly params: Readonly<Record<string, string>>
}
