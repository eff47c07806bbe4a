// Which currencies are accepted: the organisation's own choice as it is then, or these.

import type { List_Asset } from '#shared/api/types.ts'
import { get } from '../api/client.ts'
import { useData } from '../api/data.ts'
import { t } from '../texts/t.ts'
import type { Form, Values } from './form.tsx'
import { Problem } from './notice.tsx'

type Asset = List_Asset['data'][number]

/** Codes in one text of the form; nothing chosen is the organisation's own choice. */
export const readAssets = (text: string): string[] | null => (text === '' ? null : text.split(' '))
export const writeAssets = (assets: string[] | null) => (assets ?? []).join(' ')

export function AcceptsField<V extends Values & { assets: string }>({ form }: { form: Form<V> }) {
  const known = useData(() => get<List_Asset>('/assets', { limit: 100 }))
  form.has('assets')
  const chosen = readAssets(form.values.assets) ?? []
  const listed = known.value?.data ?? []
  // What was chosen once and is not offered any more is shown as well, so that it can be taken away.
  const gone = chosen.filter((code) => !listed.some((asset) => asset.asset === code))
  const offered: Pick<Asset, 'asset' | 'symbol' | 'network_name'>[] = [
    ...listed.filter((asset) => asset.available || chosen.includes(asset.asset)),
    ...gone.map((code) => ({ asset: code, symbol: code.split('@')[0] ?? code, network_name: code.split('@')[1] ?? '' })),
  ]
  const toggle = (code: string, on: boolean) => form.set('assets', writeAssets(on ? [...chosen, code] : chosen.filter((one) => one !== code)))
  const error = form.errorOf('assets')
  return (
    <fieldset class="accepts">
      <legend class="label">{t.accepts.title}</legend>
      {known.error !== null && <Problem error={known.error} again={() => void known.reload()} />}
      <div class="ticks">
        {offered.map((asset) => (
          <label key={asset.asset} class="tick">
            <input type="checkbox" name="assets" checked={chosen.includes(asset.asset)} onChange={(event) => toggle(asset.asset, event.currentTarget.checked)} />
            <span>
              {asset.symbol} <span class="dim">{t.accepts.on(asset.network_name)}</span>
            </span>
          </label>
        ))}
      </div>
      <p class={error ? 'err' : 'hint'}>{error ?? (chosen.length === 0 ? t.accepts.defaults : t.accepts.these(chosen.length))}</p>
    </fieldset>
  )
}
