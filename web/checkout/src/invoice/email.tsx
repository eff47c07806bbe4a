// One field for who wants the receipt by e-mail.

import { useState } from 'preact/hooks'
import { Refused } from '#shared/api/ask.ts'
import { post, segment } from '../api/client.ts'
import { type Notice, notice } from '../api/asked.ts'
import type { Invoice } from '../api/shapes.ts'
import { usePage } from '../page.tsx'
import { Field, said } from '#shared/parts/field.tsx'
import { Note } from '#shared/parts/state.tsx'
import { trouble } from '../trouble.ts'
import { Text } from '../words/text.tsx'
import { locale, t } from '../words/words.ts'
import type { Store } from './store.ts'

const WORDS = {
  email_invalid: 'help.email_bad',
  notify_session_mismatch: 'help.email_taken',
  checkout_session_invalid: 'help.email_taken',
  notify_limit_reached: 'help.email_full',
} as const

export function Email({ invoice, store }: { invoice: Invoice; store: Store }) {
  const { api } = usePage()
  const [email, setEmail] = useState('')
  const [left, setLeft] = useState<Notice | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  /** The server sends no mail any more. */
  const [isAway, setAway] = useState(false)

  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    if (!/^\S+@\S+$/.test(email.trim())) return setProblem(t('help.email_bad'))
    setBusy(true)
    try {
      const body = { email: email.trim(), locale: locale(), session_token: store.sessionToken() }
      setLeft(await post(api, `/v1/checkout/invoices/${segment(invoice.id)}/notify`, body, notice))
      setProblem(null)
    } catch (error) {
      setAway(error instanceof Refused && error.code === 'feature_unavailable')
      setProblem(trouble(error, WORDS))
    }
    setBusy(false)
  }
  if (isAway) return null
  if (left) {
    return (
      <div role="status">
        <Note tone="ok" glyph="check">
          <Text word={left.status === 'sent' ? 'help.email_sent' : 'help.email_later'} email={left.email} />
        </Note>
      </div>
    )
  }
  const label = (
    <>
      {t('help.email')} <span class="dim">{t('help.optional')}</span>
    </>
  )
  return (
    <form onSubmit={submit} noValidate>
      <Field id="email" label={label} error={problem}>
        <div class="inline">
          <input
            {...said('email', problem)}
            type="email"
            dir="ltr"
            autocomplete="email"
            placeholder="you@example.com"
            value={email}
            onInput={(event) => {
              setEmail(event.currentTarget.value)
              setProblem(null)
            }}
          />
          <button type="submit" class="btn" aria-disabled={isBusy}>
            {t('help.submit')}
          </button>
        </div>
      </Field>
    </form>
  )
}
