// A change that waits: how long still, what it is about, who asked for it, and the way to stop it.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Change, TestClock } from '#shared/api/types.ts'
import { get, type List, post, segment } from '../api/client.ts'
import { type Data, useData } from '../api/data.ts'
import { may } from '../api/session.ts'
import { useOften } from '../app/often.ts'
import { usePlace } from '../app/router.ts'
import { hasMail } from '../app/server.ts'
import '../style/setup.css'
import { t } from '../texts/t.ts'
import { Action } from './action.tsx'
import { Card } from './head.tsx'
import { Tag } from './tag.tsx'
import { toast } from './toast.tsx'
import { Moment } from './values.tsx'

const LOOK_MS = 5_000

export interface Pending {
  changes: Change[]
  /** How far the clock of test mode is ahead of the real one. */
  aheadMs: number
}

/** The changes that wait now; asked for again and again, since somebody else may have asked for one. */
export function usePending(): Data<Pending> {
  const { mode } = usePlace()
  const pending = useData(async () => {
    const { data } = await get<List<Change>>('/dashboard/changes', { status: 'pending', limit: 100 })
    const isMoved = mode === 'test' && data.length > 0
    const aheadMs = isMoved ? Date.parse((await get<TestClock>('/test_helpers/clock')).now) - Date.now() : 0
    return { changes: data, aheadMs }
  })
  useOften(() => void pending.reload(), LOOK_MS)
  return pending
}

/** Days, hours, minutes and seconds that are left, the largest two of them. */
export function parts(ms: number): [number, 'day' | 'hour' | 'minute' | 'second'][] {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  const all: [number, 'day' | 'hour' | 'minute' | 'second'][] = [
    [Math.floor(seconds / 86_400), 'day'],
    [Math.floor(seconds / 3_600) % 24, 'hour'],
    [Math.floor(seconds / 60) % 60, 'minute'],
    [seconds % 60, 'second'],
  ]
  const first = all.findIndex(([count]) => count > 0)
  return first < 0 ? all.slice(3) : all.slice(first, first + 2)
}

function useSeconds(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  return now
}

interface Props {
  change: Change
  aheadMs: number
  title: string
  /** What stays as it is meanwhile. */
  says: string
  onCancelled: () => unknown
  children?: ComponentChildren
}

export function Waiting({ change, aheadMs, title, says, onCancelled, children }: Props) {
  const now = useSeconds() + aheadMs
  const [from, to] = [Date.parse(change.requested_at), Date.parse(change.effective_at)]
  const gone = Math.max(0, Math.min(100, ((now - from) / Math.max(1, to - from)) * 100))
  const cancel = async () => {
    await post(`/dashboard/changes/${segment(change.id)}/cancel`)
    toast(t.changes.cancelled)
    await onCancelled()
  }
  return (
    <Card
      title={title}
      beside={
        <Tag tone="warn" glyph="clock">
          {t.changes.waiting}
        </Tag>
      }
    >
      <div class="stack">
        <p class="left num">
          {parts(to - now).map(([count, unit]) => (
            <span key={unit}>
              {count} <small>{t.changes.units[unit](count)}</small>{' '}
            </span>
          ))}
        </p>
        <svg class="gone" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
          <rect width={gone} height="4" />
        </svg>
        <p class="dim">
          {t.changes.on} <Moment at={change.effective_at} />
          {change.livemode ? '' : ` ${t.changes.testClock}`}. {says}
        </p>
      </div>
      {children}
      <div class="says-and-does">
        <p class="dim">
          {t.changes.askedBy(change.requested_by.email)} <Moment at={change.requested_at} />. {hasMail ? t.changes.toldByMail : t.changes.told}
        </p>
        {may('changes.cancel') && (
          <Action run={cancel} kind="danger" glyph="cross" ask={{ title: t.changes.cancelTitle, text: t.changes.cancelText, yes: t.changes.cancel, no: t.changes.keep }}>
            {t.changes.cancel}
          </Action>
        )}
      </div>
    </Card>
  )
}
