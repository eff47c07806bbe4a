// A button that opens the checkout of a payment link or an invoice, and tells its page when it is paid:
//
//   <till-button href="https://pay.example.com/checkout/l/…?key=…">Pay $25 <b slot="paid">Thank you!</b></till-button>
//
// It shows and does nothing but this. What was paid is known by webhooks: a page can be made to say anything.

const PAID = ['paid', 'overpaid', 'paid_late']
const OVER = ['expired', 'cancelled']
const STATUSES = ['awaiting_payment', 'detected', 'confirming', 'partially_paid', 'under_review', ...PAID, ...OVER]

/** How long to wait before asking again. */
const AGAIN_MS = 2_000
const TRIES = 3

const STYLE = `
:host { display: inline-block }
button { font: inherit; padding: .7em 1.4em; border: 0; border-radius: .5em; background: var(--till-accent, #0f5c6e); color: var(--till-text, #fff); cursor: pointer }
button:disabled { cursor: default; opacity: .6 }
button:focus-visible { outline: 3px solid; outline-offset: 2px }
[hidden] { display: none }
`

interface Known {
  id: string
  url: string
}

/** What of the payer's view of an invoice matters here. */
interface Answered {
  id: string
  status: string
  checkout_url: string
}

class Refused extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** An address of a page; nothing else is opened, whatever an attribute or an answer says. */
function pageAddress(text: string): URL {
  const url = new URL(text, location.href)
  if (!/^https?:$/.test(url.protocol)) throw new Refused('parameter_invalid', `${text} is no address of a page`)
  return url
}

/** Also where a page came without TLS and has no `randomUUID`. */
const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].join('-')

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms))

export class TillButton extends HTMLElement {
  readonly #button = document.createElement('button')
  readonly #thanks = document.createElement('span')
  #known: Known | undefined
  #stream: EventSource | undefined
  #status = ''
  #isAsking = false
  #isAskedAgain = false

  constructor() {
    super()
    const style = new CSSStyleSheet()
    style.replaceSync(STYLE)
    const root = this.attachShadow({ mode: 'open', delegatesFocus: true })
    root.adoptedStyleSheets = [style]
    this.#button.type = 'button'
    this.#button.part.add('button')
    this.#button.append(document.createElement('slot'))
    this.#button.addEventListener('click', () => void this.#open())
    this.#thanks.setAttribute('role', 'status')
    const paid = document.createElement('slot')
    paid.name = 'paid'
    paid.hidden = true
    this.#thanks.append(paid)
    root.append(this.#button, this.#thanks)
  }

  /** Where the invoice stands: empty before there is one. */
  get status(): string {
    return this.#status
  }

  /** The invoice's id, once there is one. */
  get invoice(): string | null {
    return this.#known?.id ?? null
  }

  connectedCallback(): void {
    this.#known = this.#recalled()
    if (this.#known) this.#watch(this.#known.id)
  }

  disconnectedCallback(): void {
    this.#stream?.close()
    this.#stream = undefined
  }

  /** The link or invoice that it is for, its key, and where the API is. */
  #target(): { page: URL; kind: string; name: string; key: string; api: string } {
    const page = pageAddress(this.getAttribute('href') ?? '')
    const [, before, kind, name] = /^(.*)\/([li])\/([\w-]+)$/.exec(page.pathname) ?? []
    const key = page.searchParams.get('key') ?? this.getAttribute('key')
    if (!kind || !name || !key) throw new Refused('parameter_invalid', 'href is not the address of a payment link or an invoice, with its key')
    const api = this.getAttribute('api') ?? page.origin + before?.replace(/\/checkout$/, '')
    return { page, kind, name, key, api: pageAddress(api).href.replace(/\/$/, '') }
  }

  async #open(): Promise<void> {
    // Before anything is waited for: browsers open windows only while a click is being handled.
    const tab = window.open('', '_blank')
    this.#button.disabled = true
    try {
      this.#known ??= await this.#begin()
      const { href } = pageAddress(this.#known.url)
      if (tab) {
        // The checkout needs nothing of this page.
        tab.opener = null
        tab.location.replace(href)
      } else {
        location.assign(href)
      }
      this.#watch(this.#known.id)
    } catch (error) {
      tab?.close()
      this.#tell('till-error', { code: error instanceof Refused ? error.code : 'service_unavailable', message: String(error) })
    } finally {
      this.#button.disabled = PAID.includes(this.#status)
    }
  }

  /** The invoice to pay: the one named, or a new one of the link. */
  async #begin(): Promise<Known> {
    const { page, kind, name } = this.#target()
    if (kind === 'i') return this.#remember({ id: name, url: page.href })
    const amount = this.getAttribute('amount')
    const made = await this.#call(`checkout/links/${name}/invoices`, amount === null ? {} : { amount })
    return this.#remember({ id: made.id, url: made.checkout_url })
  }

  /** Asks the API; again, with the same key, where no answer came. */
  async #call(path: string, body?: object): Promise<Answered> {
    const { api, key } = this.#target()
    const headers: Record<string, string> = { authorization: `Bearer ${key}` }
    if (body) Object.assign(headers, { 'content-type': 'application/json', 'idempotency-key': newKey() })
    for (let attempt = 1; ; attempt++) {
      const response = await fetch(`${api}/v1/${path}`, body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers }).catch(() => null)
      const answer = await response?.json().catch(() => null)
      if (response?.ok && answer) return answer
      const isLost = !answer?.error || response?.status === 429 || (response?.status ?? 0) >= 500
      if (!isLost || attempt === TRIES) throw new Refused(answer?.error?.code ?? 'service_unavailable', answer?.error?.message ?? 'no answer')
      await pause(AGAIN_MS)
    }
  }

  #watch(id: string): void {
    if (this.#stream || PAID.includes(this.#status)) return
    const { api, key } = this.#target()
    const stream = new EventSource(`${api}/v1/invoices/${id}/events?key=${encodeURIComponent(key)}`)
    this.#stream = stream
    // The stream begins with what was long ago: it says that there is something to ask for, not how things are.
    for (const status of STATUSES) stream.addEventListener(`invoice.${status}`, () => void this.#ask())
    stream.addEventListener('error', () => {
      // While it is still connecting the browser tries again by itself.
      if (stream.readyState !== EventSource.CLOSED || this.#stream !== stream) return
      this.#stream = undefined
      setTimeout(() => this.isConnected && this.#known?.id === id && this.#watch(id), AGAIN_MS)
    })
  }

  async #ask(): Promise<void> {
    if (this.#isAsking) {
      this.#isAskedAgain = true
      return
    }
    this.#isAsking = true
    do {
      this.#isAskedAgain = false
      const id = this.#known?.id
      if (!id) break
      try {
        const answer = await this.#call(`checkout/invoices/${id}`)
        if (id === this.#known?.id) this.#show(answer)
      } catch (error) {
        if ((error as Refused).code === 'resource_missing') {
          this.#known = undefined
          this.#forget()
        } else if (this.isConnected) {
          await pause(AGAIN_MS)
          this.#isAskedAgain = true
        }
      }
    } while (this.#isAskedAgain)
    this.#isAsking = false
  }

  #show({ id, status }: Answered): void {
    if (status === this.#status) return
    this.#status = status
    this.setAttribute('status', status)
    const isPaid = PAID.includes(status)
    if (isPaid || OVER.includes(status)) {
      this.#stream?.close()
      this.#stream = undefined
      this.#forget()
    }
    this.#button.disabled = isPaid
    for (const slot of this.#thanks.children) (slot as HTMLElement).hidden = !isPaid
    this.#tell('till-status', { invoice: id, status })
    if (isPaid) this.#tell('till-paid', { invoice: id, status })
    // Who presses it after the time is over begins anew.
    else if (OVER.includes(status)) this.#known = undefined
  }

  #tell(name: string, detail: object): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }))
  }

  // A page that was left for the checkout, or loaded anew, goes on with the same invoice.

  #place(): string {
    return `till-button ${this.getAttribute('href')} ${this.getAttribute('amount') ?? ''}`
  }

  #remember(known: Known): Known {
    try {
      sessionStorage.setItem(this.#place(), JSON.stringify(known))
    } catch {
      // A browser that keeps nothing: this page still knows it.
    }
    return known
  }

  #recalled(): Known | undefined {
    try {
      return JSON.parse(sessionStorage.getItem(this.#place()) ?? 'null') ?? undefined
    } catch {
      return undefined
    }
  }

  #forget(): void {
    try {
      sessionStorage.removeItem(this.#place())
    } catch {
      // Then there is nothing to forget.
    }
  }
}

if (!customElements.get('till-button')) customElements.define('till-button', TillButton)
