// What holds for a mode: names and addresses that payers see, what is offered, when a payment waits for a person. And the
// organisation's name.

import type { List_Asset, MerchantSettings, Organization } from '#shared/api/types.ts'
import { networkName } from '#shared/chain/networks.ts'
import { get, type List, post, response } from '../../api/client.ts'
import { type Data, useData } from '../../api/data.ts'
import { may, organization, updateOrganization } from '../../api/session.ts'
import { usePlace } from '../../app/router.ts'
import { Action } from '../../parts/action.tsx'
import { Submit, TextField, TickField, useForm } from '../../parts/form.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Notice } from '../../parts/notice.tsx'
import { toast } from '../../parts/toast.tsx'
import '../../style/setup.css'
import { setup } from '../../texts/setup.ts'
import { t } from '../../texts/t.ts'
import { changed, percent, readPercent } from './values.ts'

const says = setup.settings
type Asset = List_Asset['data'][number]

export default function SettingsScreen() {
  const { mode } = usePlace()
  const settings = useData(() => get<MerchantSettings>('/merchant/settings'))
  const assets = useData(() => get<List<Asset>>('/assets', { limit: 100 }))
  return (
    <>
      <Head title={t.setup.settings} />
      <Loaded of={settings}>
        {(value) =>
          may('settings.write') ? (
            <Loaded of={assets}>{({ data }) => <Mode key={`${mode}`} value={value} settings={settings} assets={data} />}</Loaded>
          ) : (
            <Facts value={value} />
          )
        }
      </Loaded>
      <OwnPage />
      <Name />
    </>
  )
}

/** For who may look and not change. */
function Facts({ value }: { value: MerchantSettings }) {
  const rows: [string, string | null][] = [
    [says.display_name, value.display_name],
    [says.support_url, value.support_url],
    [says.return_url, value.return_url],
    [says.accent, value.accent],
    [says.default_assets, value.default_assets?.join(', ') ?? null],
    [says.underpay_tolerance_bps, value.underpay_tolerance_bps === null ? null : says.ofPrice(percent(value.underpay_tolerance_bps))],
    [says.manual_review_amount, value.manual_review_amount],
  ]
  return (
    <Card title={says.modes[value.livemode ? 'live' : 'test']}>
      <dl class="facts words wide">
        {rows.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text ?? t.common.none}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}

const asset = (code: string) => `asset ${code}`

function Mode({ value, settings, assets }: { value: MerchantSettings; settings: Data<MerchantSettings>; assets: Asset[] }) {
  const offered = new Set(value.default_assets ?? [])
  const initial: Record<string, string> = {
    display_name: value.display_name ?? '',
    support_url: value.support_url ?? '',
    return_url: value.return_url ?? '',
    accent: value.accent ?? '',
    underpay_tolerance_bps: value.underpay_tolerance_bps === null ? '' : percent(value.underpay_tolerance_bps),
    manual_review_amount: value.manual_review_amount ?? '',
    ...Object.fromEntries(assets.map((one) => [asset(one.asset), offered.has(one.asset) ? 'yes' : ''])),
  }
  const form = useForm(initial, async (values) => {
    const text = (name: string) => values[name]?.trim() || null
    const chosen = assets.filter((one) => values[asset(one.asset)] === 'yes').map((one) => one.asset)
    const wanted = {
      display_name: text('display_name'),
      support_url: text('support_url'),
      return_url: text('return_url'),
      accent: text('accent'),
      default_assets: chosen.length === 0 ? null : chosen,
      underpay_tolerance_bps: readPercent(values.underpay_tolerance_bps ?? ''),
      manual_review_amount: text('manual_review_amount'),
    }
    // Only what is different is sent: what somebody else changed meanwhile stays.
    settings.set(await post<MerchantSettings>('/merchant/settings', changed(value, wanted)))
    toast(t.common.saved)
  })
  // Refusals about the list are shown with it.
  form.has('default_assets')
  const assetError = form.errorOf('default_assets')
  return (
    <form class="stack" onSubmit={form.submit}>
      <Card title={says.modes[value.livemode ? 'live' : 'test']}>
        <div class="form">
          <TextField form={form} name="display_name" label={says.display_name} hint={says.display_nameHint} isOptional maxLength={100} autocomplete="organization" />
          <TextField form={form} name="support_url" label={says.support_url} hint={says.support_urlHint} isOptional inputMode="url" />
          <TextField form={form} name="return_url" label={says.return_url} hint={says.return_urlHint} isOptional inputMode="url" />
          <TextField form={form} name="accent" label={says.accent} hint={says.accentHint} isOptional isMono maxLength={7} />
        </div>
        <fieldset class="form">
          <legend>{says.default_assets}</legend>
          <p class="dim">{says.default_assetsHint}</p>
          {assetError && <Notice tone="bad">{assetError}</Notice>}
          {assets.map((one) => (
            <TickField key={one.asset} form={form} name={asset(one.asset)} label={says.assetOn(one.symbol, networkName(one.network, one.network_name))} hint={one.available ? undefined : says.notNow} />
          ))}
        </fieldset>
        <div class="form">
          <TextField form={form} name="underpay_tolerance_bps" label={says.underpay_tolerance_bps} hint={says.underpay_tolerance_bpsHint} isOptional inputMode="decimal" />
          <TextField form={form} name="manual_review_amount" label={says.manual_review_amount} hint={says.manual_review_amountHint} isOptional inputMode="decimal" />
          <Submit form={form}>{value.livemode ? says.saveLive : t.common.save}</Submit>
        </div>
      </Card>
    </form>
  )
}

/** The file that a payment page on the merchant's own server begins with. */
function OwnPage() {
  const download = async () => {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(await (await response('/dashboard/checkout_config')).blob())
    link.download = 'config.json'
    link.click()
    URL.revokeObjectURL(link.href)
  }
  return (
    <Card title={says.page}>
      <div class="says-and-does">
        <p class="dim">{says.pageText}</p>
        <Action run={download}>{says.pageFile}</Action>
      </div>
    </Card>
  )
}

function Name() {
  const form = useForm({ name: organization()?.name ?? '' }, async ({ name }) => {
    updateOrganization(await post<Organization>('/dashboard/organization', { name: name.trim() }))
    toast(t.common.saved)
  })
  if (!may('organization.write')) return null
  return (
    <Card title={says.organization}>
      <form class="form" onSubmit={form.submit}>
        <TextField form={form} name="name" label={t.common.name} hint={says.organizationHint} maxLength={100} autocomplete="organization" />
        <Submit form={form}>{says.rename}</Submit>
      </form>
    </Card>
  )
}
