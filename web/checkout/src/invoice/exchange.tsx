// Paying from an exchange: what its withdrawal screen calls the network, and what its fee does to the amount.

import { useEffect, useState } from 'preact/hooks'
import { get } from '../api/client.ts'
import { type Exchange as Entry, exchanges } from '../api/asked.ts'
import { safeLink } from '../config.ts'
import { add } from '#shared/money.ts'
import { usePage } from '../page.tsx'
import { Tokens } from '../parts/amount.tsx'
import { Field } from '#shared/parts/field.tsx'
import { Note } from '#shared/parts/state.tsx'
import { shortDay } from '#shared/time.ts'
import { Text } from '../words/text.tsx'
import { t } from '../words/words.ts'

interface Exchange {
  network: string
  name: string
  symbol: string
  amount: string
  isRest: boolean
}

export function Exchange({ network, name, symbol, amount, isRest }: Exchange) {
  const { api } = usePage()
  const [all, setAll] = useState<Entry[]>([])
  const [chosen, setChosen] = useState('')
  useEffect(() => {
    get(api, '/v1/checkout/exchanges', exchanges).then(
      (list) => setAll(list.data),
      // Without the list the rule that matters still stands below.
      () => {},
    )
  }, [api])
  const there = all.find((one) => one.exchange === chosen)?.networks.find((one) => one.network === network)
  const fee = there?.withdrawal_fee ?? null
  const source = safeLink(there?.source_url ?? null)
  const link = source && (
    <a href={source} rel="noopener noreferrer" target="_blank">
      {t('help.source')}
    </a>
  )
  const isKnown = there?.label != null && there.verified_at !== null
  return (
    <div class="stack">
      <Field id="exchange" label={t('help.exchange')}>
        <div class="sel">
          <select id="exchange" value={chosen} onChange={(event) => setChosen(event.currentTarget.value)}>
            <option value="">{t('help.pick')}</option>
            {all.map((one) => (
              <option key={one.exchange} value={one.exchange}>
                {one.name}
              </option>
            ))}
            <option value="?">{t('help.other')}</option>
          </select>
        </div>
      </Field>
      {isKnown && (
        <dl class="facts">
          <dt>{t('help.name_there')}</dt>
          <dd>
            <b>
              <bdi>{there.label}</bdi>
            </b>
          </dd>
          <dt>{t('help.fee')}</dt>
          <dd>{fee === null ? t('help.fee_unknown') : <Tokens amount={fee} symbol={symbol} />}</dd>
          <dt>{t('help.verified')}</dt>
          <dd>
            {shortDay(there.verified_at ?? '')}
            {link && <>, {link}</>}
          </dd>
        </dl>
      )}
      <div role="status">
        {fee !== null ? (
          <Note tone="plain">
            <Text word="help.type_more" amount={<Tokens amount={add(amount, fee)} symbol={symbol} />} />
          </Note>
        ) : (
          chosen !== '' && (
            <Note tone="plain">
              {isKnown ? t('help.fee_check') : <Text word="help.unverified" network={name} />} {!isKnown && link}
            </Note>
          )
        )}
      </div>
      {isRest && <p class="small dim">{t('help.minimum')}</p>}
    </div>
  )
}
