import type { Application } from '#shared/api/types.ts'
import type { Glyph } from '../../parts/icon.tsx'
import type { Tone } from '../../parts/notice.tsx'
import { Tag } from '../../parts/tag.tsx'
import { grouped } from '../../parts/values.tsx'
import { setup } from '../../texts/setup.ts'
import { t } from '../../texts/t.ts'
import { countryName } from './countries.ts'

const says = setup.application

const STATUSES: Record<string, [Tone, Glyph]> = {
  draft: ['plain', 'doc'],
  pending: ['info', 'clock'],
  approved: ['ok', 'check'],
  rejected: ['warn', 'cross'],
}

export function ApplicationStatus({ status }: { status: string }) {
  const [tone, glyph] = STATUSES[status] ?? ['plain', 'minus']
  return (
    <Tag tone={tone} glyph={glyph}>
      {says.statuses[status] ?? status}
    </Tag>
  )
}

/** What was filled in. All of it is text from outside and shown as such. */
export function ApplicationFacts({ of }: { of: Application }) {
  const rows: [string, string | null][] = [
    [says.fields.business_name, of.business_name],
    [says.fields.website, of.website],
    [says.fields.country, of.country && countryName(of.country)],
    [says.fields.contact_email, of.contact_email],
    [says.fields.business_description, of.business_description],
    [says.fields.expected_monthly_volume, of.expected_monthly_volume && says.dollars(grouped(of.expected_monthly_volume))],
  ]
  return (
    <dl class="facts words wide">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value ?? t.common.none}</dd>
        </div>
      ))}
    </dl>
  )
}
