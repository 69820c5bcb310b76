import { render } from 'preact'
import { App } from './app.tsx'
import { startRouter } from './router.ts'
import { hasUnstoredKey } from './session.ts'
import { findWallets } from './wallets.ts'

startRouter()
findWallets()
// A key that was not stored is lost with the page.
addEventListener('beforeunload', (event) => {
  if (hasUnstoredKey()) event.preventDefault()
})
const app = document.getElementById('app')
if (app) {
  app.replaceChildren()
  render(<App />, app)
}
