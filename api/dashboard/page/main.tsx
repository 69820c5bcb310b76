import { render } from 'preact'
import { App } from './app.tsx'
import { watchBrowserWallets } from './browser-wallets.ts'
import { startRouter } from './router.ts'
import { hasUnsavedApiKey } from './session.ts'

startRouter()
watchBrowserWallets()
// An API key that the customer has not saved is lost when the page closes.
addEventListener('beforeunload', (event) => {
  if (hasUnsavedApiKey()) event.preventDefault()
})
const app = document.getElementById('app')
if (app) {
  app.replaceChildren()
  render(<App />, app)
}
