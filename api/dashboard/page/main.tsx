import { render } from 'preact'
import { App } from './app.tsx'
import { watchBrowserWallets } from './browser-wallets.ts'
import { startRouter } from './router.ts'
import { hasUnsavedSecret } from './session.ts'

startRouter()
watchBrowserWallets()
// A key or secret that the customer has not saved is lost when the page closes.
addEventListener('beforeunload', (event) => {
  if (hasUnsavedSecret()) event.preventDefault()
})
const app = document.getElementById('app')
if (app) {
  app.replaceChildren()
  render(<App />, app)
}
