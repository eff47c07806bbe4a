// Where events are sent, and the secret that signs them. At once in test mode; in live mode a change that waits.

import { useState } from 'preact/hooks'
import type { Change, MerchantSettings } from '#shared/api/types.ts'
import { get, post } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { may } from '../../api/session.ts'
import { usePlace } from '../../app/router.ts'
import { Action } from '../../parts/action.tsx'
import { usePending, Waiting } from '../../parts/change.tsx'
import { CopyField } from '../../parts/copy.tsx'
import { Submit, TextField, useForm } from '../../parts/form.tsx'
import { Card } from '../../parts/head.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { toast } from '../../parts/toast.tsx'
import { setup } from '../../texts/setup.ts'
import { t } from '../../texts/t.ts'
import { DevelopersHead } from './tabs.tsx'

const says = setup.developers.webhooks

export default function WebhooksScreen() {
  const settings = useData(() => get<MerchantSettings>('/merchant/settings'))
  const pending = usePending()
  const waiting = pending.value?.changes.filter((change) => change.kind !== 'destination') ?? []
  const isWaiting = (kind: string) => waiting.some((change) => change.kind === kind)
  const reload = () => Promise.all([settings.reload(), pending.reload()])
  return (
    <>
      <DevelopersHead />
      {waiting.map((change) => (
        <Waiting
          key={change.id}
          change={change}
          aheadMs={pending.value?.aheadMs ?? 0}
          title={change.kind === 'webhook_url' ? says.urlChanges : says.secretChanges}
          says={change.kind === 'webhook_url' ? says.urlMeanwhile : says.secretMeanwhile}
          onCancelled={reload}
        >
          {change.kind === 'webhook_url' && (
            <dl class="facts">
              <div>
                <dt>{t.changes.from}</dt>
                <dd class="mono">{change.from ?? t.common.none}</dd>
              </div>
              <div>
                <dt>{t.changes.to}</dt>
                <dd class="mono">{change.to ?? t.common.none}</dd>
              </div>
            </dl>
          )}
        </Waiting>
      ))}
      <Loaded of={settings}>
        {({ webhook_url }) => (
          <div class="duo">
            <Card title={says.url}>
              <div class="stack">
                <p class={webhook_url === null ? 'dim' : 'mono'}>{webhook_url ?? says.noUrl}</p>
                {may('webhooks.write') && !isWaiting('webhook_url') && <UrlForm key={webhook_url} now={webhook_url} onDone={reload} />}
              </div>
            </Card>
            <Secret isWaiting={isWaiting('webhook_secret')} onDone={reload} />
          </div>
        )}
      </Loaded>
    </>
  )
}

/** A change of test mode is in effect at once; others are shown with their countdown. */
async function change(body: Record<string, string | null>, confirms: string): Promise<Change> {
  const asked = await post<Change>('/dashboard/changes', body, { says: confirms })
  toast(asked.status === 'effective' ? t.changes.inEffect : t.changes.asked)
  return asked
}

function UrlForm({ now, onDone }: { now: string | null; onDone: () => unknown }) {
  const { mode } = usePlace()
  const set = async (webhook_url: string | null) => {
    await change({ kind: 'webhook_url', webhook_url }, webhook_url === null ? says.confirmStop : says.confirmUrl(webhook_url))
    await onDone()
  }
  const form = useForm({ webhook_url: now ?? '' }, ({ webhook_url }) => set(webhook_url.trim()))
  return (
    <form class="form" onSubmit={form.submit}>
      <TextField form={form} name="webhook_url" label={now === null ? says.newUrl : says.otherUrl} type="url" inputMode="url" isMono hint={mode === 'live' ? says.urlHintLive : says.urlHint} />
      <div class="acts">
        <Submit form={form} needsPasskey={mode === 'live'}>
          {mode === 'live' ? says.ask : t.common.save}
        </Submit>
        {now !== null && (
          <Action kind="danger" run={() => set(null)} ask={{ title: says.stopTitle, text: says.stopText, yes: says.stop, needsPasskey: mode === 'live' }}>
            {says.stop}
          </Action>
        )}
      </div>
    </form>
  )
}

function Secret({ isWaiting, onDone }: { isWaiting: boolean; onDone: () => unknown }) {
  const { mode } = usePlace()
  const [secret, setSecret] = useState<{ mode: string | null; value: string } | null>(null)
  return (
    <Card title={says.secret}>
      <div class="stack">
        <p>{says.secretText}</p>
        {secret?.mode === mode && secret && <CopyField label={t.enter.webhookSecret} value={secret.value} isSecret />}
        {may('webhooks.write') && !isWaiting && (
          <Action
            run={async () => {
              const asked = await change({ kind: 'webhook_secret' }, says.confirmSecret)
              if (asked.secret) setSecret({ mode, value: asked.secret })
              await onDone()
            }}
            glyph="loop"
            ask={{ title: says.rollTitle, text: mode === 'live' ? says.rollTextLive : says.rollText, yes: says.roll, needsPasskey: mode === 'live' }}
          >
            {says.roll}
          </Action>
        )}
        <p class="dim">{says.verify}</p>
      </div>
    </Card>
  )
}
