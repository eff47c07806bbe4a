// A new invoice. What is left empty is as the settings say.

import type { CreateInvoiceRequest, Invoice, List_Asset } from '#shared/api/types.ts'
import { get, post } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { go } from '../../app/router.ts'
import { Submit, TextField, useForm } from '../../parts/form.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { t } from '../../texts/t.ts'
import { readPairs } from './pairs.ts'

export default function NewInvoiceScreen() {
  const form = useForm({ amount: '', currency: 'USD', description: '', customer_ref: '', metadata: '', assets: '' }, async (values) => {
    const request: CreateInvoiceRequest = { amount: values.amount.trim(), currency: values.currency.trim().toUpperCase() }
    if (values.description) request.description = values.description
    if (values.customer_ref) request.customer_ref = values.customer_ref
    if (values.assets) request.assets = values.assets.split(' ')
    if (values.metadata.trim()) request.metadata = readPairs(values.metadata)
    const made = await post<Invoice>('/invoices', request)
    go(`/invoices/${made.id}`)
  })
  return (
    <>
      <Head title={t.invoices.create} up={{ to: '/invoices', label: t.invoices.title }} />
      <Card class="narrow-pane">
        <form class="form" onSubmit={form.submit}>
          <div class="pair">
            <TextField form={form} name="amount" label={t.invoices.amount} hint={t.invoices.amountHint} inputMode="decimal" isFocused />
            <TextField form={form} name="currency" label={t.invoices.currency} hint={t.invoices.currencyHint} maxLength={3} />
          </div>
          <TextField form={form} name="description" label={t.invoices.what} hint={t.invoices.whatHint} rows={2} maxLength={500} isOptional />
          <TextField form={form} name="customer_ref" label={t.invoices.customer} hint={t.invoices.customerHint} maxLength={200} isOptional />
          <Assets
            chosen={form.values.assets ? form.values.assets.split(' ') : []}
            error={form.errorOf('assets')}
            set={(assets) => form.set('assets', assets.join(' '))}
            register={() => form.has('assets')}
          />
          <TextField form={form} name="metadata" label={t.invoices.dataNew} hint={t.invoices.dataHint} rows={2} isMono isOptional />
          <Submit form={form}>{t.invoices.createButton}</Submit>
        </form>
      </Card>
    </>
  )
}

/** All that there are: a mode has a few dozen at most. */
const ALL = 100

interface AssetsProps {
  chosen: string[]
  error: string | null
  set: (assets: string[]) => void
  register: () => void
}

/** Which assets to offer: with none ticked, those of the settings. */
function Assets({ chosen, error, set, register }: AssetsProps) {
  register()
  const all = useData(() => get<List_Asset>('/assets', { limit: ALL }))
  return (
    <details open={error !== null || undefined}>
      <summary>{chosen.length === 0 ? t.invoices.assetsDefault : t.invoices.assetsChosen(chosen.length)}</summary>
      <Loaded of={all}>
        {({ data }) => (
          <fieldset class="picks" aria-label={t.invoices.assets}>
            {data.map(({ asset, symbol, network_name, available }) => (
              <label key={asset} class="tick">
                <input
                  type="checkbox"
                  name="assets"
                  disabled={!available}
                  checked={chosen.includes(asset)}
                  onChange={(event) => set(event.currentTarget.checked ? [...chosen, asset] : chosen.filter((one) => one !== asset))}
                />
                <span>
                  {symbol} <span class="dim">{available ? t.invoices.on(network_name) : t.invoices.unavailable(network_name)}</span>
                </span>
              </label>
            ))}
          </fieldset>
        )}
      </Loaded>
      {error !== null && (
        <p class="err">
          <Icon name="alert" />
          <span>{error}</span>
        </p>
      )}
    </details>
  )
}
