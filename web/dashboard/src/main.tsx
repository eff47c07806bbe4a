// The start: the right address, the chosen colours, who is signed in.

import '#shared/style/tokens.css'
import '#shared/style/base.css'
import './style/tokens.css'
import './style/shell.css'
import './style/parts.css'
import { render } from 'preact'
import { App } from './app/app.tsx'
import { startRouter } from './app/router.ts'
import { elsewhere } from './app/server.ts'
import { savedTheme, setTheme } from './app/theme.ts'

function start(): void {
  // Sessions and passkeys belong to the configured address.
  if (elsewhere !== null) return location.replace(elsewhere + location.pathname + location.search + location.hash)
  setTheme(savedTheme())
  startRouter()
  const at = document.getElementById('dashboard') as HTMLElement
  at.replaceChildren()
  render(<App />, at)
}

start()
