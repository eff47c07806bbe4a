// API keys: made, replaced, stopped, taken over. A secret is shown in the answer that made it and never again.

import { useState } from 'preact/hooks'
import type { ApiKey } from '#shared/api/types.ts'
import { post, segment } from '../../api/client.ts'
import { type Page, useList } from '../../api/data.ts'
import { may, session } from '../../api/session.ts'
import { usePlace } from '../../app/router.ts'
import { Action } from '../../parts/action.tsx'
import { CopyField } from '../../parts/copy.tsx'
import { Buttons, Dialog } from '../../parts/dialog.tsx'
import { SelectField, Submit, TextField, useForm } from '../../parts/form.tsx'
import { Card } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { type Column, DataList } from '../../parts/list.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Tag } from '../../parts/tag.tsx'
import { toast } from '../../parts/toast.tsx'
import { Day, Time } from '../../parts/values.tsx'
import { setup } from '../../texts/setup.ts'
import { t } from '../../texts/t.ts'
import { DevelopersHead } from './tabs.tsx'

const says = setup.developers.keys

export default function KeysScreen() {
  const { mode } = usePlace()
  const page = useList<ApiKey>('/dashboard/api_keys')
  const [isMaking, setMaking] = useState(false)
  const [made, setMade] = useState<ApiKey | null>(null)
  const took = (key: ApiKey) => {
    setMade(key)
    setMaking(false)
    void page.reload()
  }
  return (
    <>
      <DevelopersHead />
      {made?.key && made.livemode === (mode === 'live') && (
        <Card title={says.made(made.name ?? made.hint)}>
          <div class="stack">
            <CopyField label={made.kind === 'secret' ? t.enter.secretKey : t.enter.publishableKey} value={made.key} isSecret={made.kind === 'secret'} />
            {made.kind === 'secret' && <p class="dim">{says.madeText}</p>}
            <button type="button" class="btn" onClick={() => setMade(null)}>
              {says.copied}
            </button>
          </div>
        </Card>
      )}
      <div class="says-and-does">
        <p class="dim">{says.text}</p>
        {may('keys.write') && (
          <button type="button" class="btn primary" onClick={() => setMaking(true)}>
            <Icon name="plus" />
            {says.create}
          </button>
        )}
      </div>
      {page.value?.data.some((key) => key.exposed_at && !key.revoked_at) && (
        <Notice tone="bad" title={says.exposed}>
          {says.exposedText}
        </Notice>
      )}
      <DataList page={page} label={says.title} idOf={(key) => key.id} columns={columns(page, took)} empty={{ glyph: 'key', title: says.none, text: says.noneText }} />
      {isMaking && <NewKey onMade={took} onClose={() => setMaking(false)} />}
    </>
  )
}

function NewKey({ onMade, onClose }: { onMade: (key: ApiKey) => void; onClose: () => void }) {
  const form = useForm({ kind: 'secret', name: '' }, async (values) => onMade(await post<ApiKey>('/dashboard/api_keys', values, { says: says.confirmCreate(values.name) })))
  return (
    <Dialog title={says.create} onClose={onClose}>
      <form class="form" onSubmit={form.submit}>
        <TextField form={form} name="name" label={t.common.name} hint={says.nameHint} maxLength={100} isFocused />
        <SelectField
          form={form}
          name="kind"
          label={says.kind}
          hint={form.values.kind === 'secret' ? says.kinds.secretText : says.kinds.publishableText}
          options={[
            ['secret', says.kinds.secret],
            ['publishable', says.kinds.publishable],
          ]}
        />
        <Buttons>
          <button type="button" class="btn" onClick={onClose}>
            {t.common.cancel}
          </button>
          <Submit form={form}>{says.create}</Submit>
        </Buttons>
      </form>
    </Dialog>
  )
}

function columns(page: Page<ApiKey>, took: (key: ApiKey) => void): Column<ApiKey>[] {
  return [
    {
      head: t.common.name,
      cell: (key) => (
        <>
          <b>{key.name ?? says.unnamed}</b> <span class="dim">{key.kind === 'secret' ? says.kinds.secret : says.kinds.publishable}</span>
        </>
      ),
    },
    {
      head: says.key,
      cell: (key) =>
        key.revoked_at ? (
          <Tag glyph="cross">{says.revoked}</Tag>
        ) : key.exposed_at ? (
          <Tag tone="bad" glyph="alert">
            {says.seen}
          </Tag>
        ) : (
          <code class="mono nowrap">{key.hint}</code>
        ),
    },
    { head: says.by, cell: (key) => (key.created_by.type === 'cli' ? says.byShell : (key.created_by.email ?? key.created_by.id)) },
    { head: says.used, cell: (key) => (key.last_used_at ? <Time at={key.last_used_at} /> : says.never) },
    { head: says.since, cell: (key) => <Day at={key.created_at} />, isWide: true },
    { head: says.actions, isEnd: true, cell: (key) => (key.revoked_at || !may('keys.write') ? null : <KeyActions apiKey={key} page={page} took={took} />) },
  ]
}

function KeyActions({ apiKey: key, page, took }: { apiKey: ApiKey; page: Page<ApiKey>; took: (key: ApiKey) => void }) {
  const name = key.name ?? key.hint
  const to = (what: string) => `/dashboard/api_keys/${segment(key.id)}/${what}`
  const isSecret = key.kind === 'secret'
  return (
    <span class="acts">
      {isSecret && key.created_by.id !== session()?.user.id && (
        <Action
          run={async () => {
            await post(to('take_over'), undefined, { says: says.confirmTakeOver(name) })
            toast(says.tookOver)
            await page.reload()
          }}
          ask={{ title: says.takeOverTitle(name), text: says.takeOverText, yes: says.takeOver }}
        >
          {says.takeOver}
        </Action>
      )}
      <Action
        run={async () => took(await post<ApiKey>(to('roll'), undefined, { says: says.confirmRoll(name) }))}
        ask={{ title: says.rollTitle(name), text: says.rollText, yes: says.roll }}
      >
        {says.roll}
      </Action>
      <Action
        kind="danger"
        run={async () => {
          await post(to('revoke'))
          toast(says.stopped)
          await page.reload()
        }}
        ask={{ title: says.revokeTitle(name), text: says.revokeText, yes: says.revoke }}
      >
        {says.revoke}
      </Action>
    </span>
  )
}
