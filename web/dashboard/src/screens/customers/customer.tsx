// One customer: prepaid credit by what arrived, a top-up, the subscriptions.

import type { Customer, Invoice, Subscription, TokenAmount } from '#shared/api/types.ts'
import { isZero, typed } from '#shared/money.ts'
import { get, type List, post, segment } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { may } from '../../api/session.ts'
import { href } from '../../app/router.ts'
import { useState } from 'preact/hooks'
import { AcceptsField, readAssets } from '../../parts/accepts.tsx'
import { CopyField } from '../../parts/copy.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Submit, TextField, useForm } from '../../parts/form.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Metadata } from '../../parts/metadata.tsx'
import { networkNameOf } from '../../parts/network.ts'
import { Notice } from '../../parts/notice.tsx'
import { Moment, Money, symbolOf, Time } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'
import { SubscriptionStatus } from '../subscriptions/status.tsx'
import { nameOf } from './customers.tsx'

/** The most digits after the point that a price may have; the server knows what its currency has. */
const DECIMALS = 8
const SHOWN = 25

export default function CustomerScreen({ id }: { id: string }) {
  const customer = useData(() => get<Customer>(`/customers/${segment(id)}`), [id])
  const subscriptions = useData(() => get<List<Subscription>>('/subscriptions', { customer: id, limit: SHOWN }), [id])
  const { value } = customer
  return (
    <>
      <Head title={value ? nameOf(value) : t.customers.one} up={{ to: '/customers', label: t.nav.customers }}>
        {value && may('sales.write') && (
          <a class="btn primary" href={href(`/subscriptions/new?customer=${segment(id)}`)}>
            <Icon name="plus" />
            {t.subscriptions.new}
          </a>
        )}
      </Head>
      <Loaded of={customer}>
        {(one) => (
          <div class="two">
            <div>
              <Credit credit={one.credit ?? []} />
              {may('sales.write') && <TopUp customer={one} />}
              <Loaded of={subscriptions}>{(list) => <Subscriptions list={list} customer={one.id} />}</Loaded>
            </div>
            <div>
              <Card title={t.customers.facts}>
                <Facts
                  facts={[
                    [t.customers.one, <code>{one.id}</code>],
                    [t.common.email, one.email ?? t.customers.noEmail],
                    [t.customers.since, <Moment at={one.created_at} />],
                  ]}
                />
              </Card>
              <Metadata pairs={one.metadata} />
            </div>
          </div>
        )}
      </Loaded>
    </>
  )
}

/** Different currencies are never added up. */
function Credit({ credit }: { credit: TokenAmount[] }) {
  const some = credit.filter(({ amount }) => !isZero(amount))
  return (
    <Card title={t.customers.credit}>
      {some.length === 0 ? (
        <p class="dim">{t.customers.noCredit}</p>
      ) : (
        <>
          <ul class="lines flush">
            {some.map(({ asset, amount }) => (
              <li key={asset}>
                <Icon name="pay" />
                <span>{t.accepts.one(symbolOf(asset), networkNameOf(asset))}</span>
                <Money amount={amount} unit={symbolOf(asset)} />
              </li>
            ))}
          </ul>
          <p class="hint">{t.customers.creditText}</p>
        </>
      )}
    </Card>
  )
}

function TopUp({ customer }: { customer: Customer }) {
  const [made, setMade] = useState<Invoice | null>(null)
  const form = useForm({ amount: '', currency: 'USD', assets: '' }, async (values) => {
    const amount = typed(values.amount, DECIMALS) ?? values.amount.trim()
    setMade(await post<Invoice>(`/customers/${segment(customer.id)}/top_up`, { amount, currency: values.currency.trim().toUpperCase(), assets: readAssets(values.assets) }))
  })
  if (made) {
    return (
      <Card title={t.customers.topUp}>
        <div class="stack">
          <Notice tone="ok" title={t.customers.topUpMade}>
            {t.customers.topUpMadeText}
          </Notice>
          <CopyField label={t.customers.topUpLink} value={made.checkout_url} />
          <p>
            <a href={href(`/invoices/${made.id}`)}>{t.customers.seeInvoice}</a>
          </p>
        </div>
      </Card>
    )
  }
  return (
    <Card title={t.customers.topUp}>
      <details>
        <summary>{t.customers.topUpOpen}</summary>
        <form class="form" onSubmit={form.submit}>
          <p class="dim">{t.customers.topUpText}</p>
          <div class="pair">
            <TextField form={form} name="amount" label={t.customers.amount} inputMode="decimal" />
            <TextField form={form} name="currency" label={t.links.currency} maxLength={3} />
          </div>
          <AcceptsField form={form} />
          <Submit form={form}>{t.customers.topUpMake}</Submit>
        </form>
      </details>
    </Card>
  )
}

function Subscriptions({ list, customer }: { list: List<Subscription>; customer: string }) {
  return (
    <Card title={t.nav.subscriptions} beside={list.next_cursor !== null && <a href={href(`/subscriptions?customer=${segment(customer)}`)}>{t.refunds.all}</a>}>
      {list.data.length === 0 ? (
        <p class="dim">{t.customers.noSubscriptions}</p>
      ) : (
        <ul class="lines flush">
          {list.data.map((one) => (
            <li key={one.id}>
              <SubscriptionStatus status={one.status} />
              <a href={href(`/subscriptions/${one.id}`)}>
                <code>{one.id}</code>
              </a>
              <Time at={one.created_at} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
