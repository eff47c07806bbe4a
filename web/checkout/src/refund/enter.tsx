// Where the refund shall go: the network and the address, and a second look before it is said for good.

import { useState } from 'preact/hooks'
import { Refused } from '#shared/api/ask.ts'
import { type Api, post } from '../api/client.ts'
import { type Claim, claim as readClaim } from '../api/asked.ts'
import { hrp, networkName, networks } from '#shared/chain/networks.ts'
import { readPayee } from '#shared/chain/payee.ts'
import { Address } from '#shared/parts/address.tsx'
import { Hero, networkOf, Tokens } from '../parts/amount.tsx'
import { Field, said } from '#shared/parts/field.tsx'
import { Note, State } from '#shared/parts/state.tsx'
import { trouble } from '../trouble.ts'
import { Text } from '../words/text.tsx'
import { t } from '../words/words.ts'
import { claimPath, nameOf } from './claim.ts'

/** How addresses on the network begin. */
function example(id: string): string {
  const network = networks[id]
  if (!network) return ''
  return { evm: '0x…', tron: 'T…', bitcoin: `${hrp(network)}1…`, solana: '' }[network.family]
}

interface Enter {
  api: Api
  token: string
  claim: Claim
  shop: string
  done: (claim: Claim) => void
  /** The claim is no longer what it was, by this code. */
  failed: (code: string) => void
}

export function Enter({ api, token, claim, shop, done, failed }: Enter) {
  const [network, setNetwork] = useState(() => firstNetwork(claim))
  const [text, setText] = useState('')
  const [checked, setChecked] = useState<string | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [hasReturned, setReturned] = useState(false)
  const name = nameOf(claim, network)

  const look = async (event: Event) => {
    event.preventDefault()
    if (text.trim() === '') return setProblem(t('refund.no_address'))
    const address = await readPayee(network, text.trim())
    if (address === null) return setProblem(t('refund.typing_error', { network: name }))
    setProblem(null)
    setChecked(address)
  }
  if (checked !== null) {
    const back = (why: string | null) => {
      setChecked(null)
      setReturned(true)
      setProblem(why)
    }
    return <SecondLook api={api} token={token} claim={claim} network={network} address={checked} back={back} done={done} failed={failed} />
  }
  return (
    <form class="card" onSubmit={look} noValidate>
      <State title={t('refund.where')} isFocused={hasReturned}>
        <p class="dim">
          <Text word="refund.returns" shop={shop} amount={<Tokens amount={claim.amount} symbol={claim.symbol} />} />
        </p>
      </State>
      <div class="stack">
        <fieldset>
          <legend class="legend">{t('pay.network')}</legend>
          <div class="pick">
            {claim.networks.map((one) => (
              <label class="opt" key={one.network}>
                <input
                  type="radio"
                  name="network"
                  checked={one.network === network}
                  onChange={() => {
                    setNetwork(one.network)
                    setProblem(null)
                  }}
                />
                <span>
                  <bdi>{networkName(one.network, one.network_name)}</bdi>
                </span>
                {one.network === networkOf(claim.asset) && <small class="dim">{t('refund.paid_here')}</small>}
              </label>
            ))}
          </div>
        </fieldset>
        <Field id="address" label={<Text word="refund.your_address" network={name} />} hint={t('refund.paste')} error={problem}>
          <textarea
            {...said('address', problem)}
            rows={2}
            class="mono"
            autocomplete="off"
            spellcheck={false}
            placeholder={example(network)}
            value={text}
            onInput={(event) => {
              setText(event.currentTarget.value)
              setProblem(null)
            }}
          />
        </Field>
        <Note tone="warn">{t('refund.lost')}</Note>
        <button type="submit" class="btn wide primary">
          {t('refund.go_on')}
        </button>
      </div>
    </form>
  )
}

/** The network that was paid on, where the refund can be received there. */
const firstNetwork = (claim: Claim) =>
  (claim.networks.find((one) => one.network === networkOf(claim.asset)) ?? claim.networks[0])?.network ?? ''

interface Look {
  api: Api
  token: string
  claim: Claim
  network: string
  address: string
  back: (why: string | null) => void
  done: (claim: Claim) => void
  failed: (code: string) => void
}

function SecondLook({ api, token, claim, network, address, back, done, failed }: Look) {
  const [isCompared, setCompared] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const name = nameOf(claim, network)

  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    if (!isCompared) return setProblem(t('refund.tick_first'))
    setBusy(true)
    try {
      return done(await post(api, claimPath(token), { network, address }, readClaim))
    } catch (error) {
      const code = error instanceof Refused ? error.code : ''
      // Its form was checked here: the server knows whose it is.
      if (code === 'address_invalid') return back(t('refund.not_yours'))
      if (code === 'network_unavailable') return back(t('refund.network_gone'))
      if (code.startsWith('claim_')) return failed(code)
      setProblem(trouble(error))
    }
    setBusy(false)
  }
  return (
    <form class="card" onSubmit={submit} noValidate>
      <State title={t('refund.once_more')} isFocused>
        <p class="dim">{t('refund.compare')}</p>
      </State>
      <div class="amountbox">
        <p class="says">{t('refund.will_receive')}</p>
        <p>
          <Hero amount={claim.amount} symbol={claim.symbol} />
        </p>
        <p class="net">
          <span class="dim">{t('pay.on')}</span>
          <span class="tag">
            <bdi>{name}</bdi>
          </span>
        </p>
      </div>
      <div class="stack">
        <h2 class="small">{t('refund.at_address')}</h2>
        <Address address={address} />
        <label class="opt tick">
          <input
            type="checkbox"
            checked={isCompared}
            aria-describedby={problem ? 'look-says' : undefined}
            onChange={(event) => {
              setCompared(event.currentTarget.checked)
              setProblem(null)
            }}
          />
          <span class="small">{t('refund.compared')}</span>
        </label>
        {problem && (
          <div role="alert" id="look-says">
            <Note tone="warn">{problem}</Note>
          </div>
        )}
        <button type="submit" class="btn wide primary" aria-disabled={isBusy}>
          {t('refund.here')}
        </button>
        <button type="button" class="btn wide" onClick={() => back(null)}>
          {t('refund.change_address')}
        </button>
      </div>
    </form>
  )
}
