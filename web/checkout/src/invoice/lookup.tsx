// "I sent it, and nothing happens": what became of a transaction. Asking credits nothing.

import { useState } from 'preact/hooks'
import { get, segment } from '../api/client.ts'
import { type Lookup as Found, lookup } from '../api/asked.ts'
import type { Invoice } from '../api/shapes.ts'
import { explorerLink, familyOf } from '#shared/chain/networks.ts'
import { usePage } from '../page.tsx'
import { Field, said } from '#shared/parts/field.tsx'
import { Note, type Tone } from '#shared/parts/state.tsx'
import { trouble } from '../trouble.ts'
import { t, type Word } from '../words/words.ts'

/** Hexadecimal, with or without its prefix, or a Solana signature. */
const ID = /^(0x)?[0-9a-fA-F]{64}$|^[1-9A-HJ-NP-Za-km-z]{64,90}$/

const REASONS: Record<string, [Tone, Word]> = {
  not_observed_yet: ['info', 'help.yours_soon'],
  not_in_the_chain_any_more: ['warn', 'help.gone'],
  asset_not_offered: ['warn', 'help.other_currency'],
}

/** Which of a transaction's transfers matters most to the payer. */
const ORDER = ['not_observed_yet', 'asset_not_offered', 'not_in_the_chain_any_more']

export function verdict(found: Found, isLate: boolean): [Tone, Word] {
  if (!found.found) return ['plain', 'help.not_found']
  const isTheirs = found.attributed || found.transfers.some((one) => one.attributed)
  if (isTheirs) return isLate ? ['info', 'help.yours_late'] : ['ok', 'help.yours']
  const reason = ORDER.find((name) => found.transfers.some((one) => one.reason === name))
  return (reason && REASONS[reason]) || ['warn', 'help.elsewhere']
}

export function Lookup({ invoice, isLate = false }: { invoice: Invoice; isLate?: boolean }) {
  const { api } = usePage()
  const [hash, setHash] = useState('')
  const [found, setFound] = useState<Found | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)

  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    setFound(null)
    if (!ID.test(hash.trim())) return setProblem(t('help.not_an_id'))
    setBusy(true)
    try {
      const path = `/v1/checkout/invoices/${segment(invoice.id)}/lookup`
      setFound(await get(api, path, lookup, { tx_hash: hash.trim() }))
      setProblem(null)
    } catch (error) {
      setProblem(trouble(error, { parameter_invalid: 'help.not_an_id' }))
    }
    setBusy(false)
  }
  // Only EVM's transactions begin with something. What was offered is not said any more once it is over.
  const families = invoice.payment_options.map((option) => familyOf(option.network))
  const placeholder = families.length > 0 && families.every((family) => family === 'evm') ? '0x…' : ''
  const [tone, word] = found ? verdict(found, isLate) : (['plain', 'help.not_found'] as const)
  const link = found?.network ? explorerLink(found.network, hash.trim()) : null
  const hint = `${t('help.lookup_hint')} ${isLate ? t('help.lookup_late') : ''}`
  return (
    <form onSubmit={submit} noValidate class="stack">
      <Field id="transaction" label={t('help.lookup')} hint={hint} error={problem}>
        <div class="inline">
          <input
            {...said('transaction', problem)}
            class="mono"
            autocomplete="off"
            spellcheck={false}
            placeholder={placeholder}
            value={hash}
            onInput={(event) => {
              setHash(event.currentTarget.value)
              setProblem(null)
            }}
          />
          <button type="submit" class="btn" aria-disabled={isBusy}>
            {t('help.check')}
          </button>
        </div>
      </Field>
      <div role="status">
        {found && (
          <Note tone={tone} glyph={tone === 'ok' ? 'check' : tone === 'warn' ? 'alert' : 'clock'}>
            {t(word)}{' '}
            {link && (
              <a href={link} rel="noopener noreferrer" target="_blank">
                {t('pay.view')}
              </a>
            )}
          </Note>
        )}
      </div>
    </form>
  )
}
