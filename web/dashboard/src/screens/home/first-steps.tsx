// From nothing to a paid test invoice: what is done, what is next, and the button for it.

import type { SetupStep } from '#shared/api/types.ts'
import { href } from '../../app/router.ts'
import { api } from '../../app/server.ts'
import { CopyButton } from '../../parts/copy.tsx'
import { Card } from '../../parts/head.tsx'
import { Icon } from '../../parts/icon.tsx'
import { t } from '../../texts/t.ts'

/** In the order in which one does them. */
const STEPS: { step: string; to: string }[] = [
  { step: 'passkey', to: '/welcome' },
  { step: 'first_payment', to: '/invoices/new' },
  { step: 'api_key_used', to: '/developers/keys' },
  { step: 'webhook_url', to: '/developers/webhooks' },
  { step: 'destinations', to: '/destinations' },
  { step: 'application', to: '/application' },
]

const curl = () => `curl ${api}/invoices \\
  -H "Authorization: Bearer $TILL_TEST_KEY" \\
  -H "Idempotency-Key: first-one" \\
  -H "Content-Type: application/json" \\
  -d '{"amount":"25.00","currency":"USD"}'`

export function FirstSteps({ steps }: { steps: SetupStep[] }) {
  const known = STEPS.flatMap((step) => {
    const found = steps.find((one) => one.step === step.step)
    return found ? [{ ...step, done: found.done }] : []
  })
  const done = known.filter((step) => step.done).length
  const next = known.find((step) => !step.done)
  if (!next) return null
  return (
    <Card class="narrow-pane" title={t.home.steps.title}>
      <div class="got">
        <p class="row">
          <b>{t.home.steps.progress(done, known.length)}</b>
        </p>
        <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
          <rect width={(done / known.length) * 100} height="4" />
        </svg>
      </div>
      <ol class="steps flush">
        {known.map(({ step, to, done: isDone }, at) => {
          const said = t.home.steps.each[step]
          return (
            <li key={step} class={isDone ? 'done' : step === next.step ? 'cur' : ''} aria-current={step === next.step ? 'step' : undefined}>
              <span class="tickbox">{isDone ? <Icon name="check" /> : at + 1}</span>
              <div>
                <b>{said?.title ?? step}</b> {isDone && <span class="sr">{t.home.steps.done}</span>}
                <p class="dim">{said?.text}</p>
              </div>
              {step === next.step && (
                <div class="do">
                  <a class="btn primary" href={href(to)}>
                    {said?.action ?? t.common.open}
                    <Icon name="right" />
                  </a>
                  {step === 'first_payment' && (
                    <details>
                      <summary class="dim">{t.home.steps.terminal}</summary>
                      <pre class="code">{curl()}</pre>
                      <CopyButton value={curl()} />
                    </details>
                  )}
                </div>
              )}
            </li>
          )
        })}
      </ol>
    </Card>
  )
}
