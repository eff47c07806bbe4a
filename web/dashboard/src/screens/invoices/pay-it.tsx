// In test mode: a payment that no wallet has to send.

import type { Invoice, SimulatePaymentRequest } from '#shared/api/types.ts'
import { post, segment } from '../../api/client.ts'
import { SelectField, Submit, TextField, TickField, useForm } from '../../parts/form.tsx'
import { Card } from '../../parts/head.tsx'
import { toast } from '../../parts/toast.tsx'
import { grouped } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'

export function PayIt({ invoice, paid }: { invoice: Invoice; paid: (now: Invoice) => void }) {
  const said = t.invoices.payIt
  const [first] = invoice.payment_options
  const form = useForm({ asset: invoice.amount_remaining?.asset ?? first?.asset ?? '', amount: '', isSlow: '' }, async ({ asset, amount, isSlow }) => {
    const request: SimulatePaymentRequest = { asset }
    const rest = invoice.amount_remaining?.asset === asset ? invoice.amount_remaining.amount : null
    if (amount.trim() || rest) request.amount = amount.trim() || rest
    if (isSlow) request.finality_steps = ['included']
    paid(await post<Invoice>(`/test_helpers/invoices/${segment(invoice.id)}/simulate_payment`, request))
    form.set('amount', '')
    toast(said.done)
  })
  const due = (asset: string) => {
    if (invoice.amount_remaining?.asset === asset) return invoice.amount_remaining.amount
    return invoice.payment_options.find((one) => one.asset === asset)?.amount_due ?? ''
  }
  return (
    <Card title={said.title}>
      <form class="form" onSubmit={form.submit}>
        <p class="dim">{said.text}</p>
        <SelectField
          form={form}
          name="asset"
          label={said.with}
          options={invoice.payment_options.map((one) => [one.asset, `${one.symbol} ${t.invoices.on(one.network_name)}`])}
        />
        <TextField form={form} name="amount" label={said.amount} hint={said.amountHint} placeholder={grouped(due(form.values.asset))} inputMode="decimal" isOptional />
        <TickField form={form} name="isSlow" label={said.slow} hint={said.slowHint} />
        <Submit form={form}>{said.pay}</Submit>
      </form>
    </Card>
  )
}
