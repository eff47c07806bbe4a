import type { ReviewedApplication } from '#shared/api/types.ts'
import { useList } from '../../api/data.ts'
import { ChoiceFilter, DataList, Filters } from '../../parts/list.tsx'
import { Time } from '../../parts/values.tsx'
import { setup } from '../../texts/setup.ts'
import { countryName } from '../application/countries.ts'
import { ApplicationStatus } from '../application/facts.tsx'
import { OperatorHead } from './tabs.tsx'

const says = setup.operator.applications

export default function ApplicationsScreen() {
  const page = useList<ReviewedApplication>('/dashboard/operator/applications', ['status'])
  return (
    <>
      <OperatorHead />
      <Filters>
        <ChoiceFilter name="status" label={says.status} options={Object.entries(setup.application.statuses)} />
      </Filters>
      <DataList
        page={page}
        label={says.title}
        idOf={(one) => one.id}
        to={(one) => `/operator/applications/${one.id}`}
        columns={[
          { head: says.organization, cell: (one) => <b>{one.organization.name}</b> },
          { head: says.status, cell: (one) => <ApplicationStatus status={one.status} /> },
          { head: setup.application.fields.business_name, cell: (one) => one.business_name, isClipped: true },
          { head: setup.application.fields.country, cell: (one) => one.country && countryName(one.country), isWide: true },
          { head: says.submitted, cell: (one) => (one.submitted_at ? <Time at={one.submitted_at} /> : null), isEnd: true },
        ]}
        empty={{ glyph: 'doc', title: says.none, text: says.noneText }}
      />
    </>
  )
}
