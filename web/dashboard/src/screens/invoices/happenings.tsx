import { Card } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Tag } from '../../parts/tag.tsx'
import { useNow } from '../../app/now.ts'
import { t } from '../../texts/t.ts'
import { Sender, Transaction } from '../payments/status.tsx'
import type { Happened } from './timeline.ts'

const NEAR_MS = 12 * 3_600_000

/** To the second; with its day where the hour alone could be another one. */
export function toTheSecond(at: string, now: number): string {
  const time = new Date(at)
  const day = Math.abs(time.getTime() - now) < NEAR_MS ? {} : ({ day: 'numeric', month: 'short' } as const)
  return new Intl.DateTimeFormat(navigator.language, { ...day, hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23', numberingSystem: 'latn' }).format(time)
}

export function Happenings({ happened, isLive, isTest }: { happened: Happened[]; isLive: boolean; isTest: boolean }) {
  const now = useNow()
  return (
    <Card title={t.invoices.happened.title} beside={isLive && <Tag>{t.invoices.happened.live}</Tag>}>
      <ol class="time">
        {happened.map(({ key, at, tone, glyph, title, detail, payment }) => (
          <li key={key} class={tone}>
            <Icon name={glyph} />
            <b>{title}</b>
            <time dateTime={at} title={at}>
              {toTheSecond(at, now)}
            </time>
            {(detail !== null || payment !== null) && (
              <p>
                {detail}
                {payment !== null && (
                  <>
                    {payment.from !== null && (
                      <>
                        {' '}
                        {t.invoices.happened.from} <Sender from={payment.from} />
                      </>
                    )}
                    {t.invoices.happened.transaction} <Transaction network={payment.network} hash={payment.tx_hash} isLink={!isTest} />
                  </>
                )}
              </p>
            )}
          </li>
        ))}
      </ol>
    </Card>
  )
}
