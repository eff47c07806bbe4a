// One payment link: its address and code, how often it was paid, switching it on and off.

import { thousandths } from '#shared/money.ts'
import { Qr } from '#shared/parts/qr.tsx'
import { get, post, segment } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { may } from '../../api/session.ts'
import { useNow } from '../../app/now.ts'
import { href } from '../../app/router.ts'
import { Action } from '../../parts/action.tsx'
import { CopyField } from '../../parts/copy.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Metadata } from '../../parts/metadata.tsx'
import { networkNameOf } from '../../parts/network.ts'
import { Notice } from '../../parts/notice.tsx'
import { toast } from '../../parts/toast.tsx'
import { Moment } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'
import { LinkStatus, priceOf, standing, sharing } from './status.tsx'
import type { PaymentLink as Link } from '#shared/api/types.ts'

export default function LinkScreen({ id }: { id: string }) {
  const link = useData(() => get<Link>(`/payment_links/${segment(id)}`), [id])
  const now = useNow()
  const { value } = link
  return (
    <>
      <Head title={value ? priceOf(value) : t.links.one} beside={value && <LinkStatus link={value} now={now} />} up={{ to: '/links', label: t.nav.links }}>
        {value && may('sales.write') && (
          <>
            <Switch link={value} done={link.set} />
            <a class="btn" href={href(`/links/${segment(id)}/edit`)}>
              {t.links.edit}
            </a>
          </>
        )}
        {value && (
          <a class="btn primary" href={href(`/links/${segment(id)}/poster`)}>
            <Icon name="print" />
            {t.links.poster}
          </a>
        )}
      </Head>
      <Loaded of={link}>
        {(one) => (
          <div class="two">
            <div>
              <Trouble link={one} now={now} />
              <Share link={one} />
              <Counters link={one} />
            </div>
            <div>
              <About link={one} />
              <Metadata pairs={one.metadata} />
            </div>
          </div>
        )}
      </Loaded>
    </>
  )
}

function Switch({ link, done }: { link: Link; done: (link: Link) => void }) {
  const run = async () => {
    done(await post<Link>(`/payment_links/${segment(link.id)}`, { active: !link.active }))
    toast(link.active ? t.links.offToast : t.links.onToast)
  }
  if (!link.active) return <Action run={run}>{t.links.switchOn}</Action>
  return (
    <Action run={run} ask={{ title: t.links.offTitle, text: t.links.offText, yes: t.links.switchOff, no: t.links.keepOn }}>
      {t.links.switchOff}
    </Action>
  )
}

function Trouble({ link, now }: { link: Link; now: number }) {
  const is = standing(link, now)
  return is === 'on' ? null : (
    <Notice tone="plain" glyph="minus">
      {t.links.why[is]}
    </Notice>
  )
}


/** Why the address cannot be shared. */
export function NoShare({ link }: { link: Link }) {
  if (sharing(link) === 'broken') {
    return (
      <Notice tone="bad" title={t.links.noKey}>
        {t.links.badAddress}
      </Notice>
    )
  }
  return (
    <Notice
      tone="warn"
      title={t.links.noKey}
      action={
        may('keys.read') && (
          <a class="btn" href={href('/developers/keys')}>
            {t.links.toKeys}
          </a>
        )
      }
    >
      {t.links.noKeyText}
    </Notice>
  )
}

function Share({ link }: { link: Link }) {
  if (sharing(link) !== 'whole') return <NoShare link={link} />
  return (
    <Card title={t.links.share}>
      <div class="stack">
        <CopyField label={t.links.address} value={link.url} />
        <p class="hint">{t.links.addressHint}</p>
        <Qr text={link.url} label={t.links.code} />
        <p>
          <a href={link.url} target="_blank" rel="noreferrer">
            {t.links.asPayer}
          </a>
        </p>
      </div>
    </Card>
  )
}

function Counters({ link }: { link: Link }) {
  const numbers: [string, number][] = [
    [t.links.paid, link.quantity_used],
    ...(link.quantity_limit === null ? [] : [[t.links.left, Math.max(0, link.quantity_limit - link.quantity_used)] as [string, number]]),
  ]
  return (
    <Card title={t.links.counters}>
      <dl class="metrics">
        {numbers.map(([name, number]) => (
          <div key={name} class="metric">
            <dt class="dim">{name}</dt>
            <dd>
              <b class="num">{number}</b>
            </dd>
          </div>
        ))}
      </dl>
      {link.quantity_limit !== null && (
        <div class="got">
          <p class="dim">{t.links.counterLong(link.quantity_used, link.quantity_limit)}</p>
          <svg viewBox="0 0 1000 4" preserveAspectRatio="none" aria-hidden="true">
            <rect width={Number(thousandths(String(link.quantity_used), String(link.quantity_limit)))} height="4" />
          </svg>
        </div>
      )}
    </Card>
  )
}

function About({ link }: { link: Link }) {
  const accepts = link.assets === null ? t.links.defaults : link.assets.map((asset) => t.accepts.one(asset.split('@')[0] ?? asset, networkNameOf(asset))).join(', ')
  return (
    <Card title={t.links.facts}>
      <Facts
        facts={[
          [t.links.one, <code>{link.id}</code>],
          [t.links.what, link.description ?? <span class="dim">{t.links.noDescription}</span>],
          [t.links.accepts, accepts],
          [t.links.until, link.expires_at ? <Moment at={link.expires_at} /> : t.links.noEnd],
          [t.links.back, link.return_url],
          [t.links.made, <Moment at={link.created_at} />],
        ]}
      />
    </Card>
  )
}
