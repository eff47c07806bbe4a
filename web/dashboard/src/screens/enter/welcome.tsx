// The first thing after getting in: a passkey of one's own.

import { refreshSession } from '../../api/client.ts'
import { registerPasskey } from '../../api/register.ts'
import { session } from '../../api/session.ts'
import { go, href } from '../../app/router.ts'
import { Submit, TextField, useForm } from '../../parts/form.tsx'
import { Card, Head } from '../../parts/head.tsx'
import { Notice } from '../../parts/notice.tsx'
import { toast } from '../../parts/toast.tsx'
import { t } from '../../texts/t.ts'

export default function Welcome() {
  const form = useForm({ name: t.welcome.device }, async ({ name }) => {
    await registerPasskey(name)
    await refreshSession()
    toast(t.welcome.done)
    go('/', { replace: true })
  })
  return (
    <>
      <Head title={t.welcome.title} />
      {session()?.user.passkeys === 0 ? (
        <Card class="narrow-pane">
          <form class="form" onSubmit={form.submit}>
            <p>{t.welcome.text}</p>
            <TextField form={form} name="name" label={t.welcome.name} hint={t.welcome.nameHint} maxLength={100} />
            <Submit form={form} needsPasskey>
              {t.welcome.register}
            </Submit>
            <a href={href('/')}>{t.welcome.later}</a>
          </form>
        </Card>
      ) : (
        <Notice tone="ok" title={t.welcome.done} action={<a href={href('/')}>{t.nav.home}</a>} />
      )}
    </>
  )
}
