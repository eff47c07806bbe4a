// Deposits that belong to no invoice. They are looked at and put aside with a note; nothing is ever counted by hand.

import { useState } from 'preact/hooks'
import type { UnattributedDeposit } from '#shared/api/types.ts'
import { post, segment } from '../../api/client.ts'
import { useList } from '../../api/data.ts'
import { may } from '../../api/session.ts'
import { usePlace } from '../../app/router.ts'
import { Buttons, Dialog } from '../../parts/dialog.tsx'
import { Submit, TextField, useForm } from '../../parts/form.tsx'
import { Head } from '../../parts/head.tsx'
import { ChoiceFilter, DataList, Filters } from '../../parts/list.tsx'
import { Tag } from '../../parts/tag.tsx'
import { toast } from '../../parts/toast.tsx'
import { Money, networkOf, Time } from '../../parts/values.tsx'
import { t } from '../../texts/t.ts'
import { onNetwork, Sender, Transaction } from './status.tsx'
import { PaymentTabs } from './tabs.tsx'

function Status({ deposit }: { deposit: UnattributedDeposit }) {
  return deposit.status === 'open' ? (
    <Tag tone="warn" glyph="alert">
      {t.deposits.statuses.open}
    </Tag>
  ) : (
    <Tag glyph="check">{t.deposits.statuses.dismissed}</Tag>
  )
}

export default function UnattributedScreen() {
  const page = useList<UnattributedDeposit>('/dashboard/unattributed_deposits', ['status', 'network'])
  const [chosen, setChosen] = useState<UnattributedDeposit | null>(null)
  const { mode } = usePlace()
  const networks = [...new Set(page.value?.data.map((deposit) => deposit.network) ?? [])]
  const mayDismiss = may('refunds.write')
  return (
    <>
      <Head title={t.payments.title} />
      <PaymentTabs />
      <p class="dim">{t.deposits.text}</p>
      <Filters>
        <ChoiceFilter name="status" label={t.invoices.status} options={Object.entries(t.deposits.statuses)} />
        <ChoiceFilter name="network" label={t.deposits.network} options={networks.map((network) => [network, onNetwork(network)])} />
      </Filters>
      <DataList
        page={page}
        label={t.deposits.title}
        idOf={(deposit) => deposit.id}
        empty={{ glyph: 'check', title: t.deposits.empty, text: t.deposits.emptyText }}
        columns={[
          { head: t.invoices.amount, isEnd: true, cell: (deposit) => <Money amount={deposit.amount} unit={deposit.symbol ?? t.deposits.unknownToken} /> },
          { head: t.invoices.status, cell: (deposit) => <Status deposit={deposit} /> },
          {
            head: t.deposits.why,
            cell: (deposit) => (
              <>
                {t.deposits.reasons[deposit.reason] ?? deposit.reason} <span class="dim">{deposit.note ?? onNetwork(networkOf(deposit.asset))}</span>
              </>
            ),
          },
          { head: t.payments.from, isWide: true, cell: (deposit) => <Sender from={deposit.from} /> },
          { head: t.payments.hash, isWide: true, cell: (deposit) => <Transaction network={deposit.network} hash={deposit.tx_hash} isLink={mode === 'live'} /> },
          { head: t.invoices.time, isEnd: true, cell: (deposit) => <Time at={deposit.first_seen_at} /> },
          ...(mayDismiss
            ? [
                {
                  head: t.deposits.dismiss,
                  isEnd: true,
                  cell: (deposit: UnattributedDeposit) =>
                    deposit.status === 'open' && (
                      <button type="button" class="btn" onClick={() => setChosen(deposit)}>
                        {t.deposits.dismiss}
                      </button>
                    ),
                },
              ]
            : []),
        ]}
      />
      {chosen && (
        <Dismiss
          deposit={chosen}
          close={() => setChosen(null)}
          done={() => {
            setChosen(null)
            void page.reload()
          }}
        />
      )}
    </>
  )
}

function Dismiss({ deposit, close, done }: { deposit: UnattributedDeposit; close: () => void; done: () => void }) {
  const form = useForm({ note: '' }, async ({ note }) => {
    await post(`/dashboard/unattributed_deposits/${segment(deposit.id)}/dismiss`, { note })
    toast(t.deposits.dismissed)
    done()
  })
  return (
    <Dialog title={t.deposits.ask} onClose={close}>
      <p>
        <Money amount={deposit.amount} unit={deposit.symbol ?? t.deposits.unknownToken} /> {t.deposits.askText}
      </p>
      <form class="stack" onSubmit={form.submit}>
        <TextField form={form} name="note" label={t.deposits.note} hint={t.deposits.noteHint} rows={2} maxLength={500} isFocused />
        <Buttons>
          <button type="button" class="btn" onClick={close}>
            {t.common.cancel}
          </button>
          <Submit form={form}>{t.deposits.dismiss}</Submit>
        </Buttons>
      </form>
    </Dialog>
  )
}
