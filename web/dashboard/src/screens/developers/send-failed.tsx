// Everything that did not arrive, sent again: after the merchant's server was down.

import { shortMoment } from '#shared/time.ts'
import { useState } from 'preact/hooks'
import { post, segment } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { Buttons, Dialog } from '../../parts/dialog.tsx'
import { SelectField, Submit, useForm } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { toast } from '../../parts/toast.tsx'
import { setup } from '../../texts/setup.ts'
import { t } from '../../texts/t.ts'
import { notArrived } from './health.ts'
import { latest } from './latest.ts'

const says = setup.developers.deliveries
const HOUR_MS = 3_600_000
/** So many tries are looked through at most. */
const MOST = 2_000

export function SendFailed({ onSent }: { onSent: () => void }) {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <p>
      <button type="button" class="btn" onClick={() => setOpen(true)}>
        <Icon name="loop" />
        {says.sendFailed}
      </button>
      {isOpen && (
        <SendDialog
          onClose={close}
          onSent={() => {
            close()
            onSent()
          }}
        />
      )}
    </p>
  )
}

function SendDialog({ onClose, onSent }: { onClose: () => void; onSent: () => void }) {
  // Those that were sent before a refusal are not asked for again, whichever time is chosen then.
  const [sent, setSent] = useState<readonly string[]>([])
  const form = useForm({ since: '24' }, async () => {
    for (const one of failed.filter(({ id }) => !sent.includes(id))) {
      await post(`/webhook_deliveries/${segment(one.id)}/replay`)
      setSent((before) => [...before, one.id])
    }
    toast(says.allSentAgain(failed.length))
    onSent()
  })
  const found = useData(() => latest(MOST, Date.now() - Number(form.values.since) * HOUR_MS), [form.values.since])
  const tries = found.value ?? []
  const failed = notArrived(tries)
  const done = failed.filter(({ id }) => sent.includes(id)).length
  const oldest = tries.length < MOST ? undefined : tries.at(-1)
  return (
    <Dialog title={says.sendFailed} onClose={onClose}>
      <form class="form" onSubmit={form.submit}>
        <SelectField form={form} name="since" label={says.failedSince} hint={says.sameId} options={Object.entries(says.failedHours)} />
        <p aria-live="polite">{found.value === null ? t.common.loading : form.isBusy ? says.sentOf(done, failed.length) : says.willSend(failed.length)}</p>
        {oldest && <p class="hint">{says.isCut(shortMoment(oldest.created_at))}</p>}
        <Buttons>
          <button type="button" class="btn" onClick={onClose}>
            {t.common.cancel}
          </button>
          {failed.length > 0 && <Submit form={form}>{says.sendFailed}</Submit>}
        </Buttons>
      </form>
    </Dialog>
  )
}
