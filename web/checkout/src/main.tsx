// The start: which page, in which language, with which configuration.

import '#shared/style/tokens.css'
import '#shared/style/base.css'
import './style/page.css'
import './style/pay.css'
import { render } from 'preact'
import { paint } from './accent.ts'
import { Refused } from '#shared/api/ask.ts'
import { type Config, loadConfig } from './config.ts'
import { InvoicePage } from './invoice/invoice.tsx'
import { recall, remember, savedLanguage, saveLanguage } from '#shared/keep.ts'
import { type Page, PageProvider } from './page.tsx'
import { lazy } from './parts/lazy.tsx'
import { Caught, Failed, Framed } from './parts/whole.tsx'
import { type Route, route } from './route.ts'
import { chooseLanguage, type Language, setLanguage } from './words/words.ts'

const LinkPage = lazy('link', async () => (await import('./link/link.tsx')).LinkPage)
const RefundPage = lazy('refund', async () => (await import('./refund/refund.tsx')).RefundPage)

const place = document.getElementById('page') as HTMLElement
/** Scripts lie one folder below the page's own files. */
const folder = new URL(/* @vite-ignore */ '..', import.meta.url)

function currentRoute(): Route {
  const asked = route(location.pathname)
  if (asked.page !== 'refund') return asked.page === 'none' ? rememberedRefund() : asked
  remember('claim', asked.token)
  history.replaceState(null, '', location.pathname.replace(/[^/]+\/?$/, ''))
  return asked
}

/** A refund's token leaves the address bar, but not the tab: loading the page again finds it, and a bookmark does not. */
function rememberedRefund(): Route {
  return /\/r\/$/.test(location.pathname) ? { page: 'refund', token: recall('claim') ?? '' } : { page: 'none' }
}

function Content({ at }: { at: Route }) {
  switch (at.page) {
    case 'invoice':
      return <InvoicePage id={at.id} />
    case 'link':
      return <LinkPage slug={at.slug} />
    case 'refund':
      return <RefundPage token={at.token} />
    case 'none':
      return <Failed why={new Refused(404, 'route_not_found', null)} again={() => location.reload()} />
  }
}

/** Enough to say that nothing can be shown. */
const BARE: Config = {
  api: location.origin,
  key: null,
  merchant: null,
  supportUrl: null,
  returnUrl: null,
  returnOrigins: [],
  logo: null,
  accent: null,
  locales: [],
  destinations: {},
  factories: {},
  isHosted: false,
  isDemo: false,
}

async function start(): Promise<void> {
  const query = new URLSearchParams(location.search)
  const wanted = [query.get('lang'), savedLanguage(), ...navigator.languages].filter((code) => code !== null)
  const language = chooseLanguage(wanted, [])
  const words = setLanguage(language)
  // Inside somebody else's page anything could lie over the address: nothing is loaded there. The payment server and
  // whoever sends the headers of `till checkout export` forbid it already.
  const isFramed = window.top !== window.self
  let at: Route = isFramed ? { page: 'none' as const } : currentRoute()
  let config = BARE
  let why: Refused | null = null
  try {
    if (!isFramed) config = await loadConfig(new URL('config.json', folder), query.get('key'), at.page === 'refund' ? at.token : null)
  } catch (error) {
    why = error instanceof Refused ? error : new Refused(500, 'config', null)
  }
  await words
  if (config.locales.length > 0) await setLanguage(chooseLanguage(wanted, config.locales))
  paint(config.accent)

  const page: Page = {
    config,
    // A page with a configuration of its own serves one merchant, whatever key a link brings.
    api: { url: config.api, key: config.key ?? query.get('key') },
    query,
    changeLanguage: (to: Language) => {
      saveLanguage(to)
      void setLanguage(to).then(draw)
    },
    go: (path) => {
      history.pushState(null, '', location.pathname.replace(/[ilr]\/[^/]*\/?$/, path) + location.search)
      at = route(location.pathname)
      draw()
      scrollTo(0, 0)
    },
  }
  const draw = () =>
    render(
      <PageProvider value={{ ...page }}>
        <Caught>{isFramed ? <Framed /> : why ? <Failed why={why} again={() => location.reload()} /> : <Content at={at} />}</Caught>
      </PageProvider>,
      place,
    )
  addEventListener('popstate', () => {
    at = route(location.pathname)
    draw()
  })
  place.replaceChildren()
  draw()
}

void start()
