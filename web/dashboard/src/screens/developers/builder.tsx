// Writes the common calls as curl. Nothing is sent from here, and a typed key stays in this page.

import { usePlace } from '../../app/router.ts'
import { api } from '../../app/server.ts'
import { CopyButton } from '../../parts/copy.tsx'
import { SelectField, TextField, useForm } from '../../parts/form.tsx'
import { Card } from '../../parts/head.tsx'
import { setup } from '../../texts/setup.ts'
import { t } from '../../texts/t.ts'
import { type Call, CALLS, curl, fieldsOf, isTestKey } from './curl.ts'
import { DevelopersHead } from './tabs.tsx'

const says = setup.developers.builder

const EXAMPLES: Record<string, string> = { amount: '25.00', currency: 'USD' }

export default function BuilderScreen() {
  const { mode } = usePlace()
  const form = useForm<Record<string, string>>({ call: 'create_invoice', key: '', ...EXAMPLES }, async () => {})
  const calls = Object.entries(CALLS).filter(([, call]) => mode === 'test' || !call.isTest)
  const [, call] = calls.find(([name]) => name === form.values.call) ?? (calls[0] as [string, Call])
  const key = form.values.key?.trim() ?? ''
  const command = curl(api, call, form.values, key, mode ?? 'test')
  return (
    <>
      <DevelopersHead />
      <div class="duo">
        <Card title={says.call}>
          <form class="form" onSubmit={(event) => event.preventDefault()}>
            <SelectField form={form} name="call" label={says.what} options={calls.map(([name]) => [name, says.calls[name] ?? name])} />
            {fieldsOf(call).map((field) => (
              <TextField key={field} form={form} name={field} label={says.fields[field] ?? field} isOptional={!call.needs.includes(field)} isMono={field === 'invoice' || field === 'asset'} />
            ))}
            {mode === 'test' && <TextField form={form} name="key" label={says.key} isOptional isMono hint={key === '' ? says.keyHint : isTestKey(key) ? says.keyStays : says.keyOther} />}
          </form>
        </Card>
        <Card title={says.command} beside={<CopyButton value={command} name={`${t.common.copy}: ${says.command}`} />}>
          <div class="stack">
            <pre class="code" tabIndex={0} aria-label={says.command}>
              {command}
            </pre>
            <p class="dim">{mode === 'live' ? says.liveText : says.text}</p>
          </div>
        </Card>
      </div>
    </>
  )
}
