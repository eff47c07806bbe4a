// What every page has: the merchant, the language, the band of test mode, the foot.

import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect } from 'preact/hooks'
import type { Api } from './api/client.ts'
import type { Config } from './config.ts'
import { LEFT_OUT } from '#shared/api/free.ts'
import { Announcements } from '#shared/parts/announce.tsx'
import { Icon } from '#shared/parts/icon.tsx'
import { lazy } from './parts/lazy.tsx'
import { Text } from './words/text.tsx'
import { asStart, type Language, languages, locale, t } from './words/words.ts'

const LeftOut = lazy('help', async () => (await import('./invoice/left-out.tsx')).LeftOut)

export interface Page {
  config: Config
  api: Api
  /** What the address bar asked for. */
  query: URLSearchParams
  changeLanguage: (to: Language) => void
  /** Goes to another page of these, without loading it anew. */
  go: (path: string) => void
}

const PageContext = createContext<Page | null>(null)
export const PageProvider = PageContext.Provider

export function usePage(): Page {
  const page = useContext(PageContext)
  if (!page) throw new Error('outside of a page')
  return page
}

/** The merchant's name: the pinned one before the one an answer brings. */
export function shopName(config: Config, said: string | null | undefined): string {
  return config.merchant ?? said ?? t('pay.shop')
}

interface Frame {
  shop: string
  /** What the browser's tab says before the name. */
  title?: string | undefined
  isTest: boolean
  /** What is paid for, and the price. */
  what?: What
  aside?: ComponentChildren
  runs?: string
  isStale?: boolean
  children: ComponentChildren
}

export function Frame({ shop, title, isTest, what, aside, runs, isStale = false, children }: Frame) {
  const { config } = usePage()
  useEffect(() => {
    document.title = title ? `${title} · ${asStart(shop)}` : asStart(shop)
  }, [title, shop])
  return (
    <>
      {isTest && (
        <section class="band" aria-label={t('pay.test')}>
          {t('pay.test')}
        </section>
      )}
      <div class="page">
        <div class="till">
          <Who shop={shop} />
          {what && <What {...what} />}
          {aside}
          <main>
            <Announcements />
            {`${shop} ${what?.description}`.includes(LEFT_OUT) && <LeftOut />}
            {isStale && (
              <p class="strip" role="status">
                <Icon name="alert" />
                {t('pay.offline')}
              </p>
            )}
            {children}
          </main>
          <footer class="foot">
            {config.supportUrl && (
              <span>
                <a href={config.supportUrl} rel="noopener">
                  <Text word="pay.help" shop={shop} />
                </a>
              </span>
            )}
            <span>
              {runs ?? t('pay.runs')} {config.isHosted && t('pay.hosted')}
            </span>
          </footer>
        </div>
      </div>
    </>
  )
}

function Who({ shop }: { shop: string }) {
  const { config, changeLanguage } = usePage()
  const offered = languages.filter(([code]) => config.locales.length === 0 || config.locales.includes(code))
  const current = languages.find(([code]) => code === locale())
  return (
    <header class="who">
      {config.logo ? <img class="mark" src={config.logo} alt="" /> : <i class="mark">{initial(shop)}</i>}
      <span>
        <bdi>{asStart(shop)}</bdi>
      </span>
      {offered.length > 1 && (
        <label class="lang">
          <Icon name="globe" />
          <span aria-hidden="true">{current?.[1]}</span>
          <select
            aria-label={t('pay.language')}
            value={locale()}
            onChange={(event) => changeLanguage(event.currentTarget.value as Language)}
          >
            {offered.map(([code, name]) => (
              <option key={code} value={code} lang={code}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
    </header>
  )
}

const initial = (shop: string) => Array.from(shop.trim())[0]?.toUpperCase() ?? ''

interface What {
  description: string | null
  price: string
}

function What({ description, price }: What) {
  return (
    <section class="what" aria-label={t('pay.price')}>
      <p class="dim">
        <bdi>{description}</bdi>
      </p>
      <p class="price num">
        <bdi class="ltr">{price}</bdi>
      </p>
    </section>
  )
}

export function Fact({ glyph, children }: { glyph: 'direct' | 'clock'; children: ComponentChildren }) {
  return (
    <p class="checked plain">
      <Icon name={glyph} />
      <span>{children}</span>
    </p>
  )
}
