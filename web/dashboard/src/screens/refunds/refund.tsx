// One refund: the link, the payer's address, the merchant's own transfer, the record of it.

import { useEffect } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import type { Payout, Refund } from '#shared/api/types.ts'
import { explorerLink, networkName } from '#shared/chain/networks.ts'
import { readPayee } from '#shared/chain/payee.ts'
import { Address } from '#shared/parts/address.tsx'
import { get, post, segment } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { may } from '../../api/session.ts'
import { useNow } from '../../app/now.ts'
import { href } from '../../app/router.ts'
import { Action } from '../../parts/action.tsx'
import { CopyButton, CopyField } from '../../parts/copy.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Submit, TextField, useForm } from '../../parts/form.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { networkNameOf } from '../../parts/network.ts'
import { Notice } from '../../parts/notice.tsx'
import { toast } from '../../parts/toast.tsx'
import { Day, grouped, Moment, Money, symbolOf, Time } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'
import { hasEnded, reasonOf, RefundStatus, toldStatus } from './status.tsx'

/** How often a refund is looked at that waits for somebody else. */
const AGAIN_MS = 10_000

export default function RefundScreen({ id }: { id: string }) {
  const refund = useData(() => get<Refund>(`/refunds/${segment(id)}`), [id])
  const now = useNow()
  const status = refund.value ? toldStatus(refund.value, now) : null
  const { reload } = refund
  useEffect(() => {
    if (status !== 'unclaimed' && status !== 'in_review') return
    const timer = setInterval(() => document.visibilityState === 'visible' && void reload(), AGAIN_MS)
    return () => clearInterval(timer)
  }, [status, reload])
  const head = refund.value
  const title = head ? `${grouped(head.amount)} ${symbolOf(head.asset)}` : t.refunds.one
  return (
    <>
      <Head title={title} beside={status && <RefundStatus status={status} />} up={{ to: '/refunds', label: t.nav.refunds }}>
        {head && isOpen(head) && may('refunds.write') && <Cancel refund={head} done={refund.set} />}
      </Head>
      <Loaded of={refund}>
        {(value) => (
          <div class="two">
            <div>
              {value.status === 'in_review' && <Held refund={value} />}
              <Steps refund={value} done={refund.set} />
            </div>
            <div>
              <About refund={value} />
              {value.payout && <Screening payout={value.payout} />}
            </div>
          </div>
        )}
      </Loaded>
    </>
  )
}

const isOpen = (refund: Refund) => refund.status !== 'sent' && refund.status !== 'cancelled'

function Cancel({ refund, done }: { refund: Refund; done: (refund: Refund) => void }) {
  const ask = { title: t.refunds.cancelTitle, text: refund.status === 'unclaimed' ? t.refunds.cancelText : t.refunds.cancelClaimed, yes: t.refunds.cancel, no: t.refunds.keep }
  const run = async () => {
    done(await post<Refund>(`/refunds/${segment(refund.id)}/cancel`))
    toast(t.refunds.cancelled)
  }
  return (
    <Action kind="danger" ask={ask} run={run}>
      {t.refunds.cancel}
    </Action>
  )
}

function Held({ refund }: { refund: Refund }) {
  const [title, text] = t.refunds.held[refund.review_reason ?? ''] ?? [t.refunds.heldUnknown, null]
  return (
    <Notice tone="bad" glyph="stop" title={t.refunds.doNotPay}>
      {title} {text}
    </Notice>
  )
}

function Step({ at, state, title, children }: { at: number; state: 'done' | 'cur' | ''; title: string; children?: ComponentChildren }) {
  return (
    <li class={state} aria-current={state === 'cur' ? 'step' : undefined}>
      <span class="tickbox">{state === 'done' ? <Icon name="check" /> : at}</span>
      <b>
        {title} {state === 'done' && <span class="sr">{t.refunds.stepDone}</span>}
      </b>
      {children && <div class="do">{children}</div>}
    </li>
  )
}

function Steps({ refund, done }: { refund: Refund; done: (refund: Refund) => void }) {
  const { status, payout } = refund
  const isOver = hasEnded(refund, useNow())
  const isClaimed = refund.claimed_at !== null
  const isReady = status === 'ready_to_send'
  const mayRecord = may('refunds.write')
  return (
    <Card title={t.refunds.steps} beside={status === 'unclaimed' && !isOver && <span class="tag">{t.refunds.byItself}</span>}>
      <ol class="steps flush">
        <Step at={1} state={isClaimed ? 'done' : status === 'unclaimed' ? 'cur' : ''} title={t.refunds.stepLink}>
          {isOver ? <Ended refund={refund} /> : status === 'unclaimed' && <Link refund={refund} />}
        </Step>
        <Step at={2} state={isClaimed ? 'done' : ''} title={t.refunds.stepClaim}>
          {isClaimed && refund.claimed_at && (
            <p class="dim">
              <Moment at={refund.claimed_at} />
            </p>
          )}
        </Step>
        <Step at={3} state={status === 'sent' ? 'done' : isReady ? 'cur' : ''} title={t.refunds.stepSend}>
          {isReady && payout && <Pay refund={refund} payout={payout} />}
          {status === 'in_review' && <p>{t.refunds.blocked}</p>}
        </Step>
        <Step at={4} state={status === 'sent' ? 'done' : isReady ? 'cur' : ''} title={t.refunds.stepRecord}>
          {isReady && mayRecord && <MarkSent refund={refund} done={done} />}
          {isReady && !mayRecord && <p class="dim">{t.refunds.noRole}</p>}
          {status === 'sent' && <Sent refund={refund} />}
        </Step>
      </ol>
      {(status === 'in_review' || status === 'cancelled') && isClaimed && mayRecord && (
        <details>
          <summary>{t.refunds.paidBefore}</summary>
          <div class="stack">
            <p class="dim">{t.refunds.paidBeforeText}</p>
            <MarkSent refund={refund} done={done} />
          </div>
        </details>
      )}
    </Card>
  )
}

/** Whoever has the link says where the money goes: it is for those who may give money back. */
function Link({ refund }: { refund: Refund }) {
  return (
    <>
      <p class="dim">
        {t.refunds.linkText} {t.refunds.linkUntil} <Day at={refund.expires_at} />.
      </p>
      {refund.claim_url !== null && may('refunds.write') && <CopyField label={t.refunds.link} value={refund.claim_url} />}
    </>
  )
}

function Ended({ refund }: { refund: Refund }) {
  return (
    <Notice
      tone="plain"
      glyph="minus"
      title={t.refunds.endedTitle}
      action={
        may('refunds.write') && (
          <a class="btn" href={href(`/refunds/new?invoice=${segment(refund.invoice)}`)}>
            {t.refunds.new}
          </a>
        )
      }
    >
      {t.refunds.endedText}
    </Notice>
  )
}

/** What is no address of the network, by its own checksum, is not shown: nobody can be paid there. */
function Pay({ refund, payout }: { refund: Refund; payout: Payout }) {
  const payee = useData(async () => ({ address: await readPayee(payout.network, payout.address) }), [payout.network, payout.address])
  const network = networkName(payout.network, payout.network)
  return (
    <>
      <Facts
        facts={[
          [t.refunds.amount, <Money amount={refund.amount} unit={symbolOf(payout.asset)} />],
          [t.refunds.network, <b>{network}</b>],
        ]}
      />
      <Loaded of={payee}>
        {({ address }) =>
          address === null ? (
            <Notice tone="bad" glyph="stop" title={t.refunds.doNotPay}>
              {t.refunds.noAddress(network)}
            </Notice>
          ) : (
            <>
              <p class="dim">{t.refunds.payeeText}</p>
              <Address address={address} />
              <p class="filters">
                <CopyButton value={address} label={t.refunds.copyAddress} />
                <CopyButton value={refund.amount} label={t.refunds.copyAmount} />
              </p>
            </>
          )
        }
      </Loaded>
    </>
  )
}

function MarkSent({ refund, done }: { refund: Refund; done: (refund: Refund) => void }) {
  const form = useForm({ tx_hash: '' }, async ({ tx_hash }) => {
    done(await post<Refund>(`/refunds/${segment(refund.id)}/mark_sent`, { tx_hash: tx_hash.trim() }))
    toast(t.refunds.recorded)
  })
  return (
    <form class="form" onSubmit={form.submit}>
      <TextField form={form} name="tx_hash" label={t.refunds.transaction} hint={t.refunds.transactionHint} rows={2} isMono />
      <Submit form={form}>{t.refunds.markSent}</Submit>
    </form>
  )
}

function Sent({ refund }: { refund: Refund }) {
  const link = refund.payout && refund.tx_hash ? explorerLink(refund.payout.network, refund.tx_hash) : null
  return (
    <>
      {refund.sent_at && (
        <p class="dim">
          <Moment at={refund.sent_at} />
        </p>
      )}
      {refund.tx_hash && <CopyField label={t.refunds.transaction} value={refund.tx_hash} />}
      {link && (
        <a href={link} target="_blank" rel="noreferrer">
          {t.refunds.look}
        </a>
      )}
    </>
  )
}

function About({ refund }: { refund: Refund }) {
  return (
    <Card title={t.refunds.facts}>
      <Facts
        facts={[
          [t.refunds.one, <code>{refund.id}</code>],
          [
            t.refunds.invoice,
            <a href={href(`/invoices/${refund.invoice}`)}>
              <code>{refund.invoice}</code>
            </a>,
          ],
          [t.refunds.amount, <Money amount={refund.amount} unit={symbolOf(refund.asset)} />],
          [t.refunds.receivedOn, networkNameOf(refund.asset)],
          [t.refunds.why, reasonOf(refund) ?? t.refunds.notSaid],
          [t.refunds.made, <Time at={refund.created_at} />],
          [t.refunds.endedAt, refund.cancelled_at && <Time at={refund.cancelled_at} />],
        ]}
      />
    </Card>
  )
}

const FOUND = { clear: ['ok', 'check'], match: ['bad', 'stop'], unavailable: ['warn', 'alert'] } as const

function Screening({ payout }: { payout: Payout }) {
  return (
    <Card title={t.refunds.screening}>
      {payout.screening.lists.length === 0 ? (
        <p class="dim">{t.refunds.noLists}</p>
      ) : (
        <ul class="lines flush">
          {payout.screening.lists.map((list) => {
            const [tone, glyph] = FOUND[list.result as keyof typeof FOUND] ?? FOUND.unavailable
            return (
              <li key={list.list}>
                <span class={`tag ${tone}`}>
                  <Icon name={glyph} />
                  {t.refunds.findings[list.result] ?? list.result}
                </span>
                <span>{t.refunds.lists[list.list] ?? list.list}</span>
                <Time at={list.checked_at} />
              </li>
            )
          })}
        </ul>
      )}
    </Card>
  )
}
