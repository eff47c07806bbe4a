// Home: what needs a person, the first steps, what came in, how the networks are.

import type { Home, HomeNeed, Invoice, NetworkHealth } from '#shared/api/types.ts'
import { get, type List } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { needs } from '../../api/needs.ts'
import { may, session } from '../../api/session.ts'
import { href } from '../../app/router.ts'
import { Card, Head } from '../../parts/head.tsx'
import { type Glyph, Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import type { Tone } from '../../parts/notice.tsx'
import { InvoiceStatus } from '../../parts/tag.tsx'
import { Money, Time } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'
import { Finder } from './finder.tsx'
import { FirstSteps } from './first-steps.tsx'
import { Received } from './received.tsx'

const LATEST = 5

export default function HomeScreen() {
  const home = useData(async () => {
    const value = await get<Home>('/dashboard/home')
    needs.set(value.needs_you)
    return value
  })
  const latest = useData(() => get<List<Invoice>>('/invoices', { limit: LATEST }))
  return (
    <>
      <Head title={t.nav.home}>
        <Finder />
        {may('sales.write') && (
          <a class="btn primary" href={href('/invoices/new')}>
            <Icon name="plus" />
            {t.home.newInvoice}
          </a>
        )}
      </Head>
      <Loaded of={home}>
        {(value) => (
          <>
            <Needs needs={value.needs_you} />
            <Missing missing={value.missing} />
            {isNew(value) && <FirstSteps steps={value.setup} />}
            <Received volumes={value.volumes} now={value.now} />
            <div class="duo">
              <Networks networks={value.networks} />
              <Loaded of={latest}>{(list) => <Latest invoices={list.data} />}</Loaded>
            </div>
            {!isNew(value) && <FirstSteps steps={value.setup} />}
          </>
        )}
      </Loaded>
    </>
  )
}

/** Until the first payment the steps come first; then what came in does. */
const isNew = (home: Home) => home.setup.some((step) => step.step === 'first_payment' && !step.done)

const NEEDS: Record<string, [Tone, Glyph, to: string]> = {
  review_open: ['warn', 'eye', '/reviews'],
  refund_ready_to_send: ['info', 'back', '/refunds?status=ready_to_send'],
  refund_in_review: ['warn', 'back', '/refunds?status=in_review'],
  webhook_failing: ['bad', 'alert', '/developers?status=failed'],
  change_pending: ['plain', 'pin', '/destinations'],
  unattributed_deposit: ['warn', 'pay', '/payments/unattributed'],
  network_degraded: ['bad', 'alert', '/'],
  key_exposed: ['bad', 'key', '/developers/keys'],
}

function Needs({ needs }: { needs: HomeNeed[] }) {
  return (
    <Card title={t.home.needs} beside={needs.length > 0 && <span class="count">{needs.length}</span>}>
      {needs.length === 0 ? (
        <p class="dim">{t.home.nothing}</p>
      ) : (
        <ul class="need flush">
          {needs.map((need) => {
            const [tone, glyph, to] = NEEDS[need.kind] ?? ['plain', 'alert', '/']
            const said = t.home.kinds[need.kind]
            return (
              <li key={need.kind}>
                <div class={`glyph ${tone}`}>
                  <Icon name={glyph} />
                </div>
                <p>
                  <b>{said ? said.title(need.count) : need.kind}</b>
                  <span class="dim">
                    {said?.text} {t.home.since} <Time at={need.oldest_at} />
                  </span>
                </p>
                {to !== '/' && (
                  <a class="btn" href={href(to)}>
                    {said?.action ?? t.common.open}
                  </a>
                )}
              </li>
            )
          })}
        </ul>
      )}
    </Card>
  )
}

/** What a server that takes real money should have, and what follows from not having it. */
function Missing({ missing }: { missing: string[] }) {
  if (missing.length === 0) return null
  return (
    <Card title={t.home.missing}>
      <ul class="need flush">
        {missing.map((what) => (
          <li key={what}>
            <div class="glyph warn">
              <Icon name="alert" />
            </div>
            <p>
              <b>{t.home.lacks[what]?.title ?? what}</b>
              <span class="dim">{t.home.lacks[what]?.text}</span>
            </p>
          </li>
        ))}
      </ul>
    </Card>
  )
}

const HEALTH: Record<string, Tone> = { ok: 'ok', behind: 'warn', halted: 'bad' }

function Networks({ networks }: { networks: NetworkHealth[] }) {
  const simulated = networks.filter((network) => network.status === 'simulated')
  const watched = networks.filter((network) => network.status !== 'simulated')
  const isIll = watched.some((network) => network.status !== 'ok')
  return (
    <Card title={t.home.networks}>
      {networks.length === 0 && <p class="dim">{t.home.noNetworks}</p>}
      {watched.length > 0 && (
        <ul class="lines flush">
          {watched.map((network) => (
            <li key={network.network}>
              <i class={`dot ${HEALTH[network.status] ?? 'warn'}`} />
              <span>{network.status === 'ok' ? network.network_name : <b>{network.network_name}</b>}</span>
              <span class={network.status === 'ok' ? 'dim' : ''}>{t.home.health(network.status, network.lag_seconds)}</span>
            </li>
          ))}
        </ul>
      )}
      {isIll && (
        <p class="dim">
          {t.home.remedy}{' '}
          {session()?.user.operator ? <a href={href('/operator/server')}>{t.home.toEndpoints}</a> : t.home.askOperator}
        </p>
      )}
      {simulated.length > 0 && (
        <p class="dim">
          {t.home.simulated(simulated.length)} {simulated.map((network) => network.network_name).join(', ')}.
        </p>
      )}
    </Card>
  )
}

function Latest({ invoices }: { invoices: Invoice[] }) {
  return (
    <Card title={t.home.latest} beside={<a href={href('/invoices')}>{t.home.allInvoices}</a>}>
      {invoices.length === 0 ? (
        <p class="dim">{t.home.noInvoices}</p>
      ) : (
        <ul class="lines flush">
          {invoices.map((invoice) => (
            <li key={invoice.id}>
              <InvoiceStatus status={invoice.status} />
              <a href={href(`/invoices/${invoice.id}`)}>
                <Money amount={invoice.amount.amount} unit={invoice.amount.currency} />
              </a>
              <Time at={invoice.created_at} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
