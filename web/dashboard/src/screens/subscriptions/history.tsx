// Which periods were paid, and with what.

import type { Subscription } from '#shared/api/types.ts'
import { useData } from '../../api/data.ts'
import { gather } from '../../api/gather.ts'
import { href } from '../../app/router.ts'
import { Action } from '../../parts/action.tsx'
import { Card } from '../../parts/head.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { t } from '../../texts/t.ts'
import { periodsOf, type Renewal } from './periods.ts'
import { ZonedDay } from './zoned-day.tsx'

/** So many pages of everybody's renewals are looked through at once. */
const PAGES = 5
const SECOND_MS = 1000

interface Seen {
  renewals: Renewal[]
  next: string | null
  /** Whether the event that began it is still kept: then no period before the first one shown is missing. */
  isWhole: boolean
}

async function look(it: Subscription, before: Renewal[], cursor: string | null): Promise<Seen> {
  const isOfIt = ({ data }: Renewal) => data.object.id === it.id
  const found = await gather('/events', { type: 'subscription.renewed', from: it.created_at }, isOfIt, { cursor, pages: PAGES })
  const [renewals, next] = [[...before, ...found.data], found.next_cursor]
  if (next !== null) return { renewals, next, isWhole: false }
  const to = new Date(Date.parse(it.created_at) + SECOND_MS).toISOString()
  const begun = await gather('/events', { type: 'subscription.created', from: it.created_at, to }, isOfIt, { pages: PAGES })
  return { renewals, next, isWhole: begun.data.length > 0 }
}

export function History({ it, zone }: { it: Subscription; zone: string }) {
  const seen = useData(() => look(it, [], null), [it.id, it.current_period_start, it.status])
  return (
    <Card title={t.subscriptions.periods}>
      <Loaded of={seen}>
        {({ renewals, next, isWhole }) => (
          <>
            <Periods it={it} zone={zone} renewals={renewals} isWhole={isWhole} />
            {next !== null && (
              <div>
                <Action run={async () => seen.set(await look(it, renewals, next))}>{t.subscriptions.earlier}</Action>
              </div>
            )}
          </>
        )}
      </Loaded>
    </Card>
  )
}

function Periods({ it, zone, renewals, isWhole }: { it: Subscription; zone: string; renewals: Renewal[]; isWhole: boolean }) {
  const periods = periodsOf(it.id, renewals)
  if (periods.length === 0) return <p class="dim">{t.subscriptions.noPeriods}</p>
  return (
    <div class="flush scroll">
      <table aria-label={t.subscriptions.periods}>
        <thead>
          <tr>
            {isWhole && <th scope="col">{t.subscriptions.number}</th>}
            <th scope="col">{t.subscriptions.fromTo}</th>
            <th scope="col" class="r">
              {t.subscriptions.paidBy}
            </th>
          </tr>
        </thead>
        <tbody>
          {periods.map(({ from, to, by }, at) => (
            <tr key={from}>
              {isWhole && <td class="num">{periods.length - at}</td>}
              <td>
                <span class="nowrap">
                  <ZonedDay at={from} zone={zone} /> –
                </span>{' '}
                <ZonedDay at={to} zone={zone} />
              </td>
              <td class="r">
                {by.map((invoice) =>
                  invoice === null ? (
                    <div key="">{t.customers.credit}</div>
                  ) : (
                    <div key={invoice}>
                      <a href={href(`/invoices/${invoice}`)} title={invoice}>
                        {t.subscriptions.invoice}
                      </a>
                    </div>
                  ),
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
