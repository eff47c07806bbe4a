// One kind of network: where its money arrives, and a change of it: typed, computed here, looked at a second time, asked for.

import { useEffect, useState } from 'preact/hooks'
import { Refused } from '#shared/api/ask.ts'
import type { Change, List_Destination } from '#shared/api/types.ts'
import { networkName } from '#shared/chain/networks.ts'
import { Address } from '#shared/parts/address.tsx'
import { get, type List, post } from '../../api/client.ts'
import { useData } from '../../api/data.ts'
import { may } from '../../api/session.ts'
import { go, usePlace } from '../../app/router.ts'
import { Action } from '../../parts/action.tsx'
import { SelectField, Submit, TextField, TickField, useForm } from '../../parts/form.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Empty, Loaded } from '../../parts/loaded.tsx'
import { Notice } from '../../parts/notice.tsx'
import { toast } from '../../parts/toast.tsx'
import { Moment } from '../../parts/values.tsx'
import '../../style/setup.css'
import { setup } from '../../texts/setup.ts'
import { t } from '../../texts/t.ts'
import { type FamilyName, isFamily } from './families.ts'
import { Destination, useRead } from './shown.tsx'

const says = setup.destinations
type One = List_Destination['data'][number]

export default function DestinationScreen({ family }: { family: string }) {
  const list = useData(() => get<List<One>>('/dashboard/destinations'))
  const up = { to: '/destinations', label: t.setup.destinations }
  if (!isFamily(family)) {
    return (
      <>
        <Head title={t.shell.notFound} up={up} />
        <Card>
          <Empty glyph="find" title={t.shell.notFound} text={t.shell.notFoundText} />
        </Card>
      </>
    )
  }
  return (
    <>
      <Head title={says.of(says.families[family] ?? family)} up={up} />
      <Loaded of={list}>
        {({ data }) => {
          const one = data.find((each) => each.family === family)
          return one ? <Parts one={one} family={family} /> : null
        }}
      </Loaded>
    </>
  )
}

function Parts({ one, family }: { one: One; family: FamilyName }) {
  const names = one.networks.filter((network) => network.enabled).map((network) => networkName(network.network, network.network_name))
  return (
    <div class="two">
      <div>
        {may('destinations.write') && one.pending_change === null && names.length > 0 && <ChangeForm one={one} family={family} names={names} />}
        {!may('destinations.write') && <Notice tone="plain" glyph="people" title={says.notYours}>{says.notYoursText}</Notice>}
        {one.pending_change !== null && <Notice tone="warn" title={says.waits}>{says.waitsText}</Notice>}
        {names.length === 0 && <Notice tone="warn" title={says.notWatched}>{says.notWatchedText}</Notice>}
      </div>
      <div>
        <Now one={one} family={family} />
      </div>
    </div>
  )
}

function Now({ one, family }: { one: One; family: FamilyName }) {
  const read = useRead(family, one.address ?? '')
  return (
    <Card title={says.now}>
      <div class="stack">
        {one.address === null ? <p>{says.notSet}</p> : <Destination family={family} said={one.address} />}
        {one.address !== null && read?.address === one.address && read.first !== null && (
          <>
            <p class="dim">{says.firstAddress}</p>
            <Address address={read.first} />
          </>
        )}
        {one.effective_since && (
          <p class="dim">
            {says.since} <Moment at={one.effective_since} />
          </p>
        )}
      </div>
    </Card>
  )
}

function ChangeForm({ one, family, names }: { one: One; family: FamilyName; names: string[] }) {
  const { mode } = usePlace()
  const isLive = mode === 'live'
  const [tickMissed, setMissed] = useState(false)
  const ask = async (address: string | null, delay: string) => {
    const body = { kind: 'destination', family, address, ...(isLive ? {} : { delay_seconds: Number(delay) }) }
    const asked = await post<Change>('/dashboard/changes', body, { says: address === null ? says.confirmRemove(says.families[family] ?? family) : says.confirm(says.families[family] ?? family, address) })
    toast(asked.status === 'effective' ? t.changes.inEffect : t.changes.asked)
    go('/destinations')
  }
  const form = useForm({ address: '', delay_seconds: '0', compared: '' }, async ({ delay_seconds, compared }) => {
    if (read === undefined) return
    if (read === null) throw new Refused(400, 'address_invalid', null, { message: '', param: 'address', requestId: null })
    setMissed(compared !== 'yes')
    // What was looked at is sent, not what was typed.
    if (compared === 'yes') await ask(read.address, delay_seconds)
  })
  const typed = form.values.address.trim()
  const read = useRead(family, typed)
  // Another address is looked at anew.
  useEffect(() => form.set('compared', ''), [typed])
  return (
    <Card title={one.address === null ? says.add : says.changeTitle}>
      <form class="form" onSubmit={form.submit}>
        <TextField
          form={form}
          name="address"
          label={family === 'bip122' ? says.accountKey : says.address}
          hint={typed !== '' && read === null ? says.notOne : family === 'bip122' ? says.accountKeyHint : says.addressHint(names.join(', '))}
          rows={family === 'bip122' ? 3 : 2}
          isMono
        />
        {read && (
          <div class="stack">
            <p>
              <b>{says.look}</b> {says.lookText(names.join(', '))}
            </p>
            <Address address={read.address} />
            {read.first !== null && (
              <>
                <p>{says.firstWouldBe}</p>
                <Address address={read.first} />
              </>
            )}
            <TickField form={form} name="compared" label={family === 'bip122' ? says.comparedKey : says.compared} />
            {tickMissed && form.values.compared !== 'yes' && <Notice tone="bad" title={says.tickFirst} />}
          </div>
        )}
        {!isLive && <SelectField form={form} name="delay_seconds" label={says.delay} hint={says.delayHint} options={says.delays} />}
        <p class="dim">{isLive ? says.meansLive : says.meansTest}</p>
        <Submit form={form} needsPasskey={isLive}>
          {says.ask}
        </Submit>
      </form>
      {one.address !== null && (
        <div class="says-and-does">
          <p class="dim">{says.removeText}</p>
          <Action kind="danger" run={() => ask(null, form.values.delay_seconds)} ask={{ title: says.removeTitle(says.families[family] ?? family), text: isLive ? says.removeMeansLive : says.removeMeans, yes: says.remove, needsPasskey: isLive }}>
            {says.remove}
          </Action>
        </div>
      )}
    </Card>
  )
}
