// Claiming a refund. The token in the address is what gives the right to it, so it is taken out of the
// address bar and the history as soon as it was read.

import { useEffect, useRef, useState } from 'preact/hooks'
import { Refused } from '#shared/api/ask.ts'
import { type Api, get } from '../api/client.ts'
import { type Claim, claim as readClaim } from '../api/asked.ts'
import { networks } from '#shared/chain/networks.ts'
import { Fact, Frame, shopName, usePage } from '../page.tsx'
import { tokens } from '../parts/amount.tsx'
import { Failed, Loading } from '../parts/whole.tsx'
import { day } from '#shared/time.ts'
import { Text } from '../words/text.tsx'
import { t } from '../words/words.ts'
import { claimPath } from './claim.ts'
import { Enter } from './enter.tsx'
import { Recorded, recordedTitle } from './recorded.tsx'

/** How often the page looks whether the shop has sent the money. */
const LOOK_MS = 30_000

const NO_TOKEN = 'no_token'

type Loaded = { claim: Claim } | { why: Refused | null } | null

export function RefundPage({ token }: { token: string }) {
  const { api: page, config } = usePage()
  // The token is the credential; no key goes with it.
  const api: Api = { url: page.url, key: null }
  const [loaded, setLoaded] = useState<Loaded>(null)
  const [isTooLate, setTooLate] = useState(false)
  /** The claim as it was last seen: whose it is outlives it. */
  const known = useRef<Claim | null>(null)
  const load = async () => {
    // Without the token, which does not stay in the address bar, there is nothing to ask for.
    if (token === '') return setLoaded({ why: new Refused(404, NO_TOKEN, null) })
    await get(api, claimPath(token), readClaim).then(
      (claim) => setLoaded({ claim }),
      (error) => {
        const why = error instanceof Refused ? error : null
        // What was shown stays, when only the connection is gone.
        setLoaded((before) => (before && 'claim' in before && (!why || why.isTransient) ? before : { why }))
      },
    )
  }
  useEffect(() => void load(), [token])
  const isWaiting = loaded !== null && 'claim' in loaded && ['ready_to_send', 'in_review'].includes(loaded.claim.status)
  useEffect(() => {
    if (!isWaiting) return
    const timer = setInterval(() => !document.hidden && void load(), LOOK_MS)
    return () => clearInterval(timer)
  }, [isWaiting])

  /** Somebody else was faster, or the shop changed its mind: the page becomes what the claim is now. */
  const failed = (code: string) => {
    setTooLate(code.startsWith('claim_already_'))
    void load()
  }

  if (loaded === null) return <Loading />
  if ('why' in loaded) {
    const missing = missingWords(loaded.why)
    const shop = known.current && shopName(config, known.current.merchant.display_name)
    return <Failed why={loaded.why} again={load} missing={missing} shop={shop ?? undefined} isTest={isTest(known.current)} />
  }
  const { claim } = loaded
  known.current = claim
  const shop = shopName(config, claim.merchant.display_name)
  const isOpen = claim.status === 'unclaimed'
  return (
    <Frame
      shop={shop}
      title={isOpen ? t('refund.where') : recordedTitle(claim)}
      isTest={isTest(claim)}
      runs={t('refund.runs')}
      what={{ description: t('refund.refund'), price: tokens(claim.amount, claim.symbol) }}
      aside={
        <aside class="aside">
          <Fact glyph="direct">{t('refund.own_wallet')}</Fact>
          {isOpen && (
            <Fact glyph="clock">
              <Text word="refund.works_until" time={day(claim.expires_at)} />
            </Fact>
          )}
        </aside>
      }
    >
      {isOpen ? (
        <Enter api={api} token={token} claim={claim} shop={shop} done={(next) => setLoaded({ claim: next })} failed={failed} />
      ) : (
        <Recorded claim={claim} shop={shop} isTooLate={isTooLate} />
      )}
    </Frame>
  )
}

function missingWords(why: Refused | null): { title: string; text: string } {
  switch (why?.code) {
    case 'claim_expired':
      return { title: t('refund.over'), text: t('refund.ended_text') }
    case 'claim_cancelled':
      return { title: t('refund.taken_back'), text: t('refund.taken_back_text') }
    case NO_TOKEN:
      return { title: t('refund.missing'), text: t('refund.bookmark') }
    default:
      return { title: t('refund.missing'), text: t('pay.missing_text') }
  }
}

const isTest = (claim: Claim | null) => claim?.networks.some((one) => networks[one.network]?.live === false) ?? false
