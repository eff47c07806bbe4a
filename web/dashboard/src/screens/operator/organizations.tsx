// Organisations on this server: made for others, switched off and on again.

import { useState } from 'preact/hooks'
import type { Invite, InvitedOrganization, OperatedOrganization } from '#shared/api/types.ts'
import { post, segment } from '../../api/client.ts'
import { type Page, useList } from '../../api/data.ts'
import { Action } from '../../parts/action.tsx'
import { CopyField } from '../../parts/copy.tsx'
import { Buttons, Dialog } from '../../parts/dialog.tsx'
import { Submit, TextField, useForm } from '../../parts/form.tsx'
import { Card } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ChoiceFilter, DataList, Filters, SearchFilter } from '../../parts/list.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Tag } from '../../parts/tag.tsx'
import { toast } from '../../parts/toast.tsx'
import { Time } from '../../parts/values.tsx'
import { setup } from '../../texts/setup.ts'
import { t } from '../../texts/t.ts'
import { OperatorHead } from './tabs.tsx'

const says = setup.operator.organizations

export default function OrganizationsScreen() {
  const page = useList<OperatedOrganization>('/dashboard/operator/organizations', ['name', 'disabled'])
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<{ name: string; invite: Invite } | null>(null)
  return (
    <>
      <OperatorHead>
        <button type="button" class="btn primary" onClick={() => setMaking(true)}>
          <Icon name="plus" />
          {says.create}
        </button>
      </OperatorHead>
      {made && (
        <Card title={says.made(made.name)}>
          <div class="stack">
            {made.invite.link === null ? (
              <Notice tone="ok" title={setup.team.mailed(made.invite.email)} />
            ) : (
              <>
                <p>{setup.team.passOn(made.invite.email)}</p>
                <CopyField label={setup.team.link} value={made.invite.link} isSecret />
              </>
            )}
          </div>
        </Card>
      )}
      <Filters>
        <SearchFilter name="name" label={says.find} />
        <ChoiceFilter
          name="disabled"
          label={says.state}
          options={[
            ['false', says.on],
            ['true', says.off],
          ]}
        />
      </Filters>
      <DataList
        page={page}
        label={says.title}
        idOf={(one) => one.id}
        columns={[
          {
            head: t.common.name,
            cell: (one) => (
              <>
                <b>{one.name}</b> <span class="dim">{says.members(one.members)}</span>
              </>
            ),
          },
          {
            head: says.state,
            cell: (one) =>
              one.disabled ? (
                <Tag tone="bad" glyph="stop">
                  {says.off}
                </Tag>
              ) : (
                <Tag tone={one.live ? 'ok' : 'plain'} glyph={one.live ? 'check' : 'minus'}>
                  {one.live ? says.live : says.testOnly}
                </Tag>
              ),
          },
          { head: says.why, cell: (one) => one.disabled_reason, isClipped: true },
          { head: says.lastInvoice, cell: (one) => (one.last_invoice_at ? <Time at={one.last_invoice_at} /> : t.common.none) },
          { head: says.actions, isEnd: true, cell: (one) => <Switch one={one} page={page} /> },
        ]}
        empty={{ glyph: 'people', title: says.none }}
      />
      {isMaking && (
        <New
          onClose={() => setMaking(false)}
          onMade={({ organization, invite }) => {
            setMaking(false)
            setMade({ name: organization.name, invite })
            void page.reload()
          }}
        />
      )}
    </>
  )
}

function New({ onClose, onMade }: { onClose: () => void; onMade: (made: InvitedOrganization) => void }) {
  const form = useForm({ name: '', owner_email: '' }, async (values) => onMade(await post<InvitedOrganization>('/dashboard/operator/organizations', values, { says: says.confirmCreate(values.name, values.owner_email) })))
  return (
    <Dialog title={says.create} onClose={onClose}>
      <form class="form" onSubmit={form.submit}>
        <TextField form={form} name="name" label={t.common.name} maxLength={100} isFocused />
        <TextField form={form} name="owner_email" label={says.owner} type="email" inputMode="email" hint={says.ownerHint} />
        <Buttons>
          <button type="button" class="btn" onClick={onClose}>
            {t.common.cancel}
          </button>
          <Submit form={form} needsPasskey>
            {says.create}
          </Submit>
        </Buttons>
      </form>
    </Dialog>
  )
}

function Switch({ one, page }: { one: OperatedOrganization; page: Page<OperatedOrganization> }) {
  const [isAsked, setAsked] = useState(false)
  const to = (what: string) => `/dashboard/operator/organizations/${segment(one.id)}/${what}`
  const form = useForm({ reason: '' }, async ({ reason }) => {
    await post(to('disable'), { reason: reason.trim() }, { says: says.confirmOff(one.name) })
    setAsked(false)
    toast(says.isOff(one.name))
    await page.reload()
  })
  const enable = async () => {
    await post(to('enable'), undefined, { says: says.confirmOn(one.name) })
    toast(says.isOn(one.name))
    await page.reload()
  }
  return (
    <span class="acts">
      {one.disabled ? (
        <Action run={enable} ask={{ title: says.onTitle(one.name), text: says.onText, yes: says.enable, needsPasskey: true }}>
          {says.enable}
        </Action>
      ) : (
        <button type="button" class="btn danger" onClick={() => setAsked(true)}>
          {says.disable}
        </button>
      )}
      {isAsked && (
        <Dialog title={says.offTitle(one.name)} onClose={() => setAsked(false)}>
          <form class="form" onSubmit={form.submit}>
            <p>{says.offText}</p>
            <TextField form={form} name="reason" label={says.reason} hint={says.reasonHint} maxLength={500} rows={2} isFocused />
            <Buttons>
              <button type="button" class="btn" onClick={() => setAsked(false)}>
                {t.common.cancel}
              </button>
              <Submit form={form} isDanger needsPasskey>
                {says.disable}
              </Submit>
            </Buttons>
          </form>
        </Dialog>
      )}
    </span>
  )
}
