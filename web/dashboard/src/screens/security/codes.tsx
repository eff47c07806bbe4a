// Codes from an app: a second factor beside a link by mail. They sign in, and never confirm anything.

import { useState } from 'preact/hooks'
import type { TotpSetup, User } from '#shared/api/types.ts'
import { Qr } from '#shared/parts/qr.tsx'
import { post } from '../../api/client.ts'
import { updateUser } from '../../api/session.ts'
import { Action } from '../../parts/action.tsx'
import { CopyField } from '../../parts/copy.tsx'
import { Submit, TextField, useForm } from '../../parts/form.tsx'
import { Card } from '../../parts/head.tsx'
import { Tag } from '../../parts/tag.tsx'
import { toast } from '../../parts/toast.tsx'
import { setup } from '../../texts/setup.ts'
import { t } from '../../texts/t.ts'

const says = setup.security.codes

export function Codes({ user }: { user: User }) {
  const [setup, setSetup] = useState<TotpSetup | null>(null)
  const isOn = user.totp_enabled
  return (
    <Card title={says.title} beside={isOn ? <Tag tone="ok" glyph="check">{says.on}</Tag> : <Tag>{says.off}</Tag>}>
      <p class="dim">{says.text}</p>
      {isOn ? (
        <Off user={user} />
      ) : setup ? (
        <On setup={setup} onDone={() => setSetup(null)} />
      ) : (
        <div>
          <Action run={async () => setSetup(await post<TotpSetup>('/dashboard/totp/setup', undefined, { says: says.confirmSetup }))}>{says.setUp}</Action>
        </div>
      )}
    </Card>
  )
}

function On({ setup, onDone }: { setup: TotpSetup; onDone: () => void }) {
  const form = useForm({ code: '' }, async ({ code }) => {
    const user = await post<User>('/dashboard/totp/confirm', { code: code.replace(/\s/g, '') })
    onDone()
    toast(says.isOn)
    updateUser(user)
  })
  return (
    <div class="stack">
      <p>{says.scan}</p>
      <Qr text={setup.otpauth_url} label={says.qr} />
      <CopyField label={says.secret} value={setup.secret} isSecret />
      <form class="form" onSubmit={form.submit}>
        <TextField form={form} name="code" label={t.enter.code} hint={t.enter.codeHint} inputMode="numeric" autocomplete="one-time-code" isMono />
        <div class="acts">
          <Submit form={form}>{says.turnOn}</Submit>
          <button type="button" class="btn" onClick={onDone}>
            {t.common.cancel}
          </button>
        </div>
      </form>
    </div>
  )
}

/** Whoever has a passkey says yes with it; others give a code. */
function Off({ user }: { user: User }) {
  const done = (now: User) => {
    toast(says.isOff)
    updateUser(now)
  }
  const form = useForm({ code: '' }, async ({ code }) => done(await post<User>('/dashboard/totp/disable', { code: code.replace(/\s/g, '') })))
  if (user.passkeys > 0) {
    return (
      <div>
        <Action kind="danger" run={async () => done(await post<User>('/dashboard/totp/disable', {}, { says: says.confirmOff }))} ask={{ title: says.offTitle, text: says.offText, yes: says.turnOff, needsPasskey: true }}>
          {says.turnOff}
        </Action>
      </div>
    )
  }
  return (
    <form class="form" onSubmit={form.submit}>
      <TextField form={form} name="code" label={t.enter.code} hint={says.offText} inputMode="numeric" autocomplete="one-time-code" isMono />
      <Submit form={form} isDanger>
        {says.turnOff}
      </Submit>
    </form>
  )
}
