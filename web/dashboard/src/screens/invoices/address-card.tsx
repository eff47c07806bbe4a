import { useEffect, useState } from 'preact/hooks'
import { networkName } from '#shared/chain/networks.ts'
import { Address, shortened } from '#shared/parts/address.tsx'
import type { Change, CheckoutPaymentOption, MerchantSettings } from '#shared/api/types.ts'
import { get, type List } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { CopyButton } from '../../parts/copy.tsx'
import { Card } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Notice } from '../../parts/notice.tsx'
import { t } from '../../texts/t.ts'
import { type Judged, judge, pinned } from './addresses.ts'

const CHANGES = 100
const named = (ids: string[]) => ids.map((id) => networkName(id, id))
const names = (ids: string[]) => t.invoices.networks(named(ids))

/** What the server says of addresses is an input here; what is shown was computed by this page. */
export function AddressCard({ options, madeAt }: { options: CheckoutPaymentOption[]; madeAt: string }) {
  const pins = useData(async () => {
    const [settings, changes] = await Promise.all([
      get<MerchantSettings>('/merchant/settings'),
      get<List<Change>>('/dashboard/changes', { kind: 'destination', status: 'effective', limit: CHANGES }),
    ])
    return pinned(settings.registered_destinations, changes.data, madeAt)
  }, [madeAt])
  const [judged, setJudged] = useState<Judged | null>(null)
  const offered = JSON.stringify(options)
  useEffect(() => {
    let isCurrent = true
    setJudged(null)
    if (pins.value !== null) void judge(options, pins.value).then((found) => isCurrent && setJudged(found))
    return () => {
      isCurrent = false
    }
  }, [offered, pins.value])
  return <Loaded of={pins}>{() => judged && <Shown judged={judged} />}</Loaded>
}

function Shown({ judged: { addresses, unchecked, wrong } }: { judged: Judged }) {
  return (
    <>
      {wrong.length > 0 && (
        <Notice tone="bad" title={t.invoices.wrongAddress}>
          {t.invoices.wrongAddressText(named(wrong).join(', '))}
        </Notice>
      )}
      {addresses.map(({ address, destination, networks }) => (
        <Card key={address} title={t.invoices.address}>
          <div class="stack">
            <p class="dim">{names(networks)}</p>
            <Address address={address} />
            <CopyButton value={address} label={t.invoices.copyAddress} name={`${t.invoices.copyAddress}: ${names(networks)}`} />
            <p class="checked">
              <Icon name="shield" />
              <span>
                {t.invoices.checked} <code title={destination}>{shortened(destination)}</code>
              </span>
            </p>
          </div>
        </Card>
      ))}
      {unchecked.length > 0 && (
        <Card title={t.invoices.address}>
          <p class="dim">{t.invoices.unchecked(named(unchecked).join(', '))}</p>
        </Card>
      )}
    </>
  )
}
