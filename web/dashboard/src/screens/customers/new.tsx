import type { Customer } from '#shared/api/types.ts'
import { post } from '../../api/client.ts'
import { go } from '../../app/router.ts'
import { Submit, TextField, useForm } from '../../parts/form.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { MetadataField, readPairs } from '../../parts/metadata.tsx'
import { toast } from '../../parts/toast.tsx'
import { t } from '../../texts/t.ts'

export default function NewCustomerScreen() {
  const form = useForm({ name: '', email: '', metadata: '' }, async ({ name, email, metadata }) => {
    const pairs = readPairs(metadata)
    if (pairs === null) return
    const made = await post<Customer>('/customers', { name: name.trim() || null, email: email.trim() || null, metadata: pairs })
    toast(t.customers.made)
    go(`/customers/${made.id}`)
  })
  return (
    <>
      <Head title={t.customers.newTitle} up={{ to: '/customers', label: t.nav.customers }} />
      <Card class="narrow-pane">
        <form class="form" onSubmit={form.submit}>
          <TextField form={form} name="name" label={t.common.name} maxLength={200} isOptional isFocused />
          <TextField form={form} name="email" type="email" label={t.common.email} hint={t.customers.emailHint} isOptional />
          <MetadataField form={form} />
          <Submit form={form}>{t.customers.make}</Submit>
        </form>
      </Card>
    </>
  )
}
