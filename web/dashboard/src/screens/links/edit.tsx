// Making a payment link, and changing one.

import type { AmountType, CreatePaymentLinkRequest } from '#shared/api/types.ts'
import { typed } from '#shared/money.ts'
import { get, post, segment } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { go, href } from '../../app/router.ts'
import { AcceptsField, readAssets, writeAssets } from '../../parts/accepts.tsx'
import { SelectField, Submit, TextField, useForm } from '../../parts/form.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { MetadataField, readPairs, writePairs } from '../../parts/metadata.tsx'
import { Notice } from '../../parts/notice.tsx'
import { toast } from '../../parts/toast.tsx'
import { t } from '../../texts/t.ts'
import type { PaymentLink as Link } from '#shared/api/types.ts'

/** The most digits after the point that a price may have; the server knows what its currency has. */
const DECIMALS = 8

export interface LinkValues extends Record<string, string> {
  amount_type: string
  amount: string
  currency: string
  min_amount: string
  max_amount: string
  description: string
  quantity_limit: string
  expires_at: string
  return_url: string
  assets: string
  metadata: string
}

const EMPTY: LinkValues = {
  amount_type: 'fixed',
  amount: '',
  currency: 'USD',
  min_amount: '',
  max_amount: '',
  description: '',
  quantity_limit: '',
  expires_at: '',
  return_url: '',
  assets: '',
  metadata: '',
}

/** A moment as a browser's field for date and time has it: of the reader's own clock, without a zone. */
export function localMoment(at: string): string {
  const date = new Date(at)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

function valuesOf(link: Link): LinkValues {
  return {
    amount_type: link.amount_type,
    amount: link.amount ?? '',
    currency: link.currency,
    min_amount: link.min_amount ?? '',
    max_amount: link.max_amount ?? '',
    description: link.description ?? '',
    quantity_limit: link.quantity_limit === null ? '' : String(link.quantity_limit),
    expires_at: link.expires_at === null ? '' : localMoment(link.expires_at),
    return_url: link.return_url ?? '',
    assets: writeAssets(link.assets),
    metadata: writePairs(link.metadata),
  }
}

/** What was typed as the API takes it; what it cannot take is sent as it is, and refused at its field. */
export function requestOf(values: LinkValues): CreatePaymentLinkRequest {
  const isFixed = values.amount_type === 'fixed'
  const money = (text: string) => (text.trim() === '' ? null : (typed(text, DECIMALS) ?? text.trim()))
  const text = (value: string) => value.trim() || null
  const limit = values.quantity_limit.trim()
  return {
    amount_type: values.amount_type as AmountType,
    currency: values.currency.trim().toUpperCase(),
    amount: isFixed ? money(values.amount) : null,
    min_amount: isFixed ? null : money(values.min_amount),
    max_amount: isFixed ? null : money(values.max_amount),
    description: text(values.description),
    quantity_limit: limit === '' ? null : /^\d{1,9}$/.test(limit) ? Number(limit) : (limit as unknown as number),
    expires_at: values.expires_at === '' ? null : new Date(values.expires_at).toISOString(),
    return_url: text(values.return_url),
    assets: readAssets(values.assets),
    metadata: readPairs(values.metadata) ?? {},
  }
}

/** Only what was changed: what somebody else changed meanwhile stays. */
export function changesOf(before: LinkValues, after: LinkValues): Partial<CreatePaymentLinkRequest> {
  const [was, is] = [requestOf(before), requestOf(after)] as Record<string, unknown>[]
  return Object.fromEntries(Object.entries(is ?? {}).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(was?.[name])))
}

export function NewLinkScreen() {
  return (
    <>
      <Head title={t.links.newTitle} up={{ to: '/links', label: t.nav.links }} />
      <Fields
        initial={EMPTY}
        yes={t.links.make}
        send={async (values) => {
          const made = await post<Link>('/payment_links', requestOf(values))
          toast(t.links.madeToast)
          go(`/links/${made.id}`)
        }}
      />
    </>
  )
}

export function EditLinkScreen({ id }: { id: string }) {
  const link = useData(() => get<Link>(`/payment_links/${segment(id)}`), [id])
  return (
    <>
      <Head title={t.links.editTitle} up={{ to: `/links/${segment(id)}`, label: t.links.one }} />
      <Loaded of={link}>
        {(value) => {
          const before = valuesOf(value)
          return (
            <Fields
              key={value.id}
              initial={before}
              yes={t.common.save}
              note={t.links.editText}
              back={`/links/${value.id}`}
              send={async (values) => {
                await post<Link>(`/payment_links/${segment(value.id)}`, changesOf(before, values))
                toast(t.common.saved)
                go(`/links/${value.id}`)
              }}
            />
          )
        }}
      </Loaded>
    </>
  )
}

function Fields({ initial, yes, note, back, send }: { initial: LinkValues; yes: string; note?: string; back?: string; send: (values: LinkValues) => Promise<void> }) {
  const form = useForm(initial, async (values) => {
    if (readPairs(values.metadata) !== null) await send(values)
  })
  return (
    <Card class="narrow-pane">
      <form class="form" onSubmit={form.submit}>
        {note && <Notice tone="info" glyph="clock">{note}</Notice>}
        <SelectField
          form={form}
          name="amount_type"
          label={t.links.who}
          options={[
            ['fixed', t.links.fixed],
            ['payer_chosen', t.links.payerChosen],
          ]}
        />
        {form.values.amount_type === 'fixed' ? (
          <div class="pair">
            <TextField form={form} name="amount" label={t.links.price} inputMode="decimal" placeholder="25.00" isFocused={back === undefined} />
            <TextField form={form} name="currency" label={t.links.currency} maxLength={3} />
          </div>
        ) : (
          <>
            <div class="pair">
              <TextField form={form} name="min_amount" label={t.links.least} inputMode="decimal" isOptional />
              <TextField form={form} name="max_amount" label={t.links.most} inputMode="decimal" isOptional />
            </div>
            <TextField form={form} name="currency" label={t.links.currency} maxLength={3} />
          </>
        )}
        <TextField form={form} name="description" label={t.links.what} hint={t.links.whatHint} maxLength={500} rows={2} isOptional />
        <div class="pair">
          <TextField form={form} name="quantity_limit" label={t.links.limit} hint={t.links.limitHint} inputMode="numeric" isOptional />
          <TextField form={form} name="expires_at" type="datetime-local" label={t.links.until} hint={t.links.untilHint} isOptional />
        </div>
        <AcceptsField form={form} />
        <TextField form={form} name="return_url" type="url" label={t.links.back} hint={t.links.backHint} isOptional />
        <MetadataField form={form} />
        <Submit form={form}>{yes}</Submit>
        {back && (
          <a class="btn" href={href(back)}>
            {t.common.cancel}
          </a>
        )}
      </form>
    </Card>
  )
}
