import { placeOf } from '../../app/places.ts'
import { go } from '../../app/router.ts'
import { Icon } from '../../parts/icon.tsx'
import { t } from '../../texts/t.ts'

/** Where what was typed leads: an id to its object, a transaction to its payment, anything else is a customer's reference. */
export function whereTo(typed: string): string | null {
  const text = typed.trim()
  if (text === '') return null
  const place = placeOf(text)
  if (place) return place
  if (/^(0x)?[0-9a-fA-F]{64}$/.test(text)) return `/payments?tx_hash=${text}`
  return `/invoices?${new URLSearchParams({ customer_ref: text })}`
}

export function Finder() {
  return (
    <form
      class="search field"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        const to = whereTo(new FormData(event.currentTarget).get('find') as string)
        if (to) go(to)
      }}
    >
      <Icon name="find" />
      <input name="find" type="search" placeholder={t.home.find} aria-label={t.home.find} title={t.home.findHint} autocomplete="off" data-find />
    </form>
  )
}
