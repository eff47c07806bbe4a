// A page to print and put up: what for, how much, and the code to scan.

import { Qr } from '#shared/parts/qr.tsx'
import { get, segment } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { organization } from '../../api/session.ts'
import type { MerchantSettings } from '#shared/api/types.ts'
import { useNow } from '../../app/now.ts'
import { usePlace } from '../../app/router.ts'
import { Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Moment } from '../../parts/values.tsx'
import '../../style/poster.css'
import { t } from '../../texts/t.ts'
import { NoShare } from './link.tsx'
import { priceOf, sharing, standing } from './status.tsx'
import type { PaymentLink as Link } from '#shared/api/types.ts'

export default function PosterScreen({ id }: { id: string }) {
  const { mode } = usePlace()
  const now = useNow()
  const data = useData(async () => {
    const [link, settings] = await Promise.all([get<Link>(`/payment_links/${segment(id)}`), get<MerchantSettings>('/merchant/settings')])
    return { link, merchant: settings.display_name ?? organization()?.name ?? '' }
  }, [id])
  return (
    <>
      <Head title={t.links.poster} up={{ to: `/links/${segment(id)}`, label: t.links.one }}>
        <button type="button" class="btn primary" onClick={() => print()}>
          <Icon name="print" />
          {t.links.print}
        </button>
      </Head>
      <Loaded of={data}>
        {({ link, merchant }) =>
          sharing(link) === 'whole' ? (
            <>
              {standing(link, now) !== 'on' && (
                <Notice tone="warn">
                  {t.links.why[standing(link, now)]} {t.links.posterOff}
                </Notice>
              )}
              <section class="poster" aria-label={t.links.poster}>
                {mode === 'test' && <p class="posted-test">{t.links.posterTest}</p>}
                <p class="posted-who">{merchant}</p>
                {link.description && <p class="posted-what">{link.description}</p>}
                <p class="posted-price num">{priceOf(link)}</p>
                <Qr text={link.url} label={t.links.code} />
                <p>{t.links.scan}</p>
                {link.expires_at && (
                  <p class="dim">
                    {t.links.untilLong} <Moment at={link.expires_at} />
                  </p>
                )}
              </section>
            </>
          ) : (
            <NoShare link={link} />
          )
        }
      </Loaded>
    </>
  )
}
