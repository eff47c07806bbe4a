// A payment link: what is sold, for how much, and a fresh invoice for whoever wants to pay.

import { useEffect, useState } from 'preact/hooks'
import { Refused } from '#shared/api/ask.ts'
import { get, post, segment } from '../api/client.ts'
import { link as readLink, type Link } from '../api/asked.ts'
import { invoice as readInvoice } from '../api/shapes.ts'
import { returnLink } from '../config.ts'
import { remember } from '#shared/keep.ts'
import { compare, decimalPoint, price, typed } from '#shared/money.ts'
import { Fact, Frame, shopName, usePage } from '../page.tsx'
import { Field, said } from '#shared/parts/field.tsx'
import type { Glyph } from '#shared/parts/icon.tsx'
import { Note, State } from '#shared/parts/state.tsx'
import { Failed, Loading } from '../parts/whole.tsx'
import { day } from '#shared/time.ts'
import { trouble } from '../trouble.ts'
import { Text } from '../words/text.tsx'
import { locale, t } from '../words/words.ts'

/** The status words of a link that takes no payment now, as its page and as a refusal call them. */
const CLOSED: Record<string, string> = {
  payment_link_inactive: 'inactive',
  payment_link_expired: 'expired',
  payment_link_sold_out: 'sold_out',
  payment_link_fully_reserved: 'fully_reserved',
  payment_link_busy: 'busy',
}

type Loaded = { link: Link } | { why: Refused | null } | null

export function LinkPage({ slug }: { slug: string }) {
  const { api, config } = usePage()
  const [loaded, setLoaded] = useState<Loaded>(null)
  const load = () =>
    get(api, `/v1/checkout/links/${segment(slug)}`, readLink).then(
      (link) => setLoaded({ link }),
      (error) => setLoaded({ why: error instanceof Refused ? error : null }),
    )
  useEffect(() => void load(), [slug])
  if (loaded === null) return <Loading />
  if ('why' in loaded) {
    const missing = { title: t('link.link_missing'), text: t('pay.missing_text') }
    return <Failed why={loaded.why} again={load} missing={missing} />
  }
  const { link } = loaded
  const shop = shopName(config, link.merchant.display_name)
  const fixed = link.amount === null ? '' : price(link.amount, link.currency, locale())
  const close = (status: string) => setLoaded({ link: { ...link, status } })
  return (
    <Frame
      shop={shop}
      title={link.status === 'active' ? t('link.pay_shop', { shop }) : closedWords(link)[1]}
      isTest={!link.livemode}
      what={{ description: link.description, price: fixed }}
      aside={
        <aside class="aside">
          <Fact glyph="direct">{t('pay.direct')}</Fact>
        </aside>
      }
    >
      {link.status === 'active' ? (
        <Open slug={slug} link={link} shop={shop} close={close} />
      ) : (
        <Closed link={link} shop={shop} again={load} />
      )}
    </Frame>
  )
}

interface Open {
  slug: string
  link: Link
  shop: string
  close: (status: string) => void
}

function Open({ slug, link, shop, close }: Open) {
  const { api, go } = usePage()
  const [amount, setAmount] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const isFixed = link.amount_type === 'fixed'
  const bounds = boundsOf(link)

  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    const wanted = isFixed ? null : check(amount, link)
    if (wanted !== null && 'problem' in wanted) return setProblem(wanted.problem)
    setBusy(true)
    try {
      const body = wanted === null ? {} : { amount: wanted.amount }
      const made = await post(api, `/v1/checkout/links/${segment(slug)}/invoices`, body, readInvoice)
      remember(`link.${made.id}`, slug)
      remember(`session.${made.id}`, made.session_token)
      return go(`i/${made.id}`)
    } catch (error) {
      const status = error instanceof Refused ? CLOSED[error.code] : undefined
      if (status) return close(status)
      const isAmount = error instanceof Refused && /^(amount_too_|parameter_|currency_)/.test(error.code)
      setProblem(isAmount ? (bounds ?? amountBad(link)) : trouble(error))
    }
    setBusy(false)
  }
  return (
    <form class="card" onSubmit={submit} noValidate>
      <State title={<Text word="link.pay_shop" shop={shop} />}>{isFixed && <p class="dim">{t('link.next')}</p>}</State>
      <div class="stack">
        {isFixed ? (
          problem && (
            <div role="alert">
              <Note tone="warn">{problem}</Note>
            </div>
          )
        ) : (
          <Field id="amount" label={`${t('link.amount')} (${link.currency})`} hint={bounds} error={problem}>
            <input
              {...said('amount', problem)}
              class="num"
              dir="ltr"
              inputMode="decimal"
              autocomplete="transaction-amount"
              value={amount}
              onInput={(event) => {
                setAmount(event.currentTarget.value)
                setProblem(null)
              }}
            />
          </Field>
        )}
        <button type="submit" class="btn wide primary" aria-disabled={isBusy}>
          <span>{isFixed ? <Text word="link.pay_price" price={<bdi class="num nowrap ltr">{written(link.amount ?? '', link)}</bdi>} /> : t('link.continue')}</span>
        </button>
      </div>
    </form>
  )
}

const written = (amount: string, link: Link) => price(amount, link.currency, locale())

function boundsOf(link: Link): string | null {
  const { min_amount: min, max_amount: max } = link
  if (min !== null && max !== null) return t('link.between', { min: written(min, link), max: written(max, link) })
  if (min !== null) return t('link.at_least', { min: written(min, link) })
  return max === null ? null : t('link.at_most', { max: written(max, link) })
}

function check(text: string, link: Link): { amount: string } | { problem: string } {
  const amount = typed(text, decimalsOf(link.currency), decimalPoint(locale()))
  if (amount === null || compare(amount, '0') === 0) return { problem: amountBad(link) }
  const isSmall = link.min_amount !== null && compare(amount, link.min_amount) < 0
  const isLarge = link.max_amount !== null && compare(amount, link.max_amount) > 0
  return isSmall || isLarge ? { problem: boundsOf(link) ?? '' } : { amount }
}

/** An amount as it may be typed: with the language's own mark, and as many decimals as the currency has. */
function amountBad(link: Link): string {
  const decimals = '0'.repeat(decimalsOf(link.currency))
  return t('link.amount_bad', { example: decimals ? `25${decimalPoint(locale())}${decimals}` : '25' })
}

/** How many decimals the currency has; the browser knows. */
function decimalsOf(currency: string): number {
  try {
    return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2
  } catch {
    return 2
  }
}

function Closed({ link, shop, again }: { link: Link; shop: string; again: () => void }) {
  const { config, query } = usePage()
  const [glyph, title, mayReturn] = closedWords(link)
  const back = returnLink(config, query.get('return_url'), link.return_url)
  return (
    <div class="card">
      <State glyph={glyph} title={title} isFocused>
        {mayReturn && <p>{t('link.some_minutes')}</p>}
      </State>
      {(mayReturn || back) && (
        <div class="stack">
          {mayReturn && (
            <button type="button" class="btn wide" onClick={again}>
              {t('pay.again')}
            </button>
          )}
          {back && (
            <a class="btn wide" href={back} rel="noopener">
              <span>
                <Text word="link.return" shop={shop} />
              </span>
            </a>
          )}
        </div>
      )}
    </div>
  )
}

function closedWords(link: Link): [Glyph, string, boolean] {
  switch (link.status) {
    case 'expired':
      return ['clock', t('link.ended', { time: day(link.expires_at ?? '') }), false]
    case 'sold_out':
      return ['check', t('link.sold_out'), false]
    case 'fully_reserved':
      return ['clock', t('link.reserved'), true]
    case 'busy':
      return ['clock', t('link.busy'), true]
    default:
      return ['cross', t('link.off'), false]
  }
}
