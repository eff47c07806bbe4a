import type { Glyph } from '../../parts/icon.tsx'
import type { Tone } from '../../parts/notice.tsx'
import { Tag } from '../../parts/tag.tsx'
import { t } from '../../texts/t.ts'

export const STATUSES = ['active', 'past_due', 'incomplete', 'paused', 'cancelled'] as const

const LOOKS: Record<string, [Tone, Glyph]> = {
  active: ['ok', 'check'],
  past_due: ['bad', 'alert'],
  incomplete: ['warn', 'clock'],
  paused: ['plain', 'minus'],
  cancelled: ['plain', 'cross'],
}

export function SubscriptionStatus({ status }: { status: string }) {
  const [tone, glyph] = LOOKS[status] ?? ['plain', 'minus']
  return (
    <Tag tone={tone} glyph={glyph}>
      {t.subscriptions.statuses[status] ?? status}
    </Tag>
  )
}
