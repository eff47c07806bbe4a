// Which page: getting in for who is not signed in, the first steps, or a screen within the shell.

import { useEffect } from 'preact/hooks'
import { Refused } from '#shared/api/ask.ts'
import type { Session } from '#shared/api/types.ts'
import { get, post, setPendingCsrf } from '../api/client.ts'
import { organization, signedIn, useOrganization, who } from '../api/session.ts'
import { Empty } from '../parts/loaded.tsx'
import { Card, Head } from '../parts/head.tsx'
import { screens } from '../screens.ts'
import { isOpenTo } from '../shell/allowed.ts'
import { Interruptions } from '../shell/interruptions.tsx'
import { Shell } from '../shell/shell.tsx'
import { t } from '../texts/t.ts'
import { Caught, Lazy } from './lazy.tsx'
import { go, match, place, usePlace } from './router.ts'
import { isDemo } from './server.ts'
import { store } from './store.ts'

const broken = store<unknown>(null)

const enter = { load: () => import('../screens/enter/enter.tsx') }
const link = { load: () => import('../screens/enter/link.tsx') }
const begin = { load: () => import('../screens/enter/begin.tsx') }

async function load(): Promise<void> {
  broken.set(null)
  // The screen's file comes while the server says who is signed in.
  const screen = screens.find(({ path }) => match(path, place().path) !== null)
  screen?.load().catch(() => {})
  try {
    const session = await get<Session>('/dashboard/session', {}, { isEntering: true })
    setPendingCsrf(session.csrf_token)
    signedIn(session)
  } catch (error) {
    if (!(error instanceof Refused && error.status === 401)) return broken.set(error)
    if (!isDemo) return who.set({ kind: 'out', pending: null })
    signedIn(await post<Session>('/dashboard/sign_in/demo', undefined, { isEntering: true }))
  }
}

/** Pages that are there without a mode: everything else gets one. */
const OUTSIDE = ['/sign-in', '/sign-up', '/link']

export function App() {
  const now = who.use()
  const why = broken.use()
  const { mode, path } = usePlace()
  useOrganization()
  useEffect(() => void load(), [])
  const isIn = now.kind === 'in'
  useEffect(() => {
    if (!isIn || mode !== null || path === '/link') return
    const first = organization()?.live ? 'live' : 'test'
    go(OUTSIDE.includes(path) ? '/' : `${path === '/' ? '/' : path}${location.search}`, { mode: first, replace: true })
  }, [isIn, mode, path])

  if (why !== null) return <Lazy load={enter.load} props={{ why, again: () => void load() }} />
  if (now.kind === 'loading') return null
  if (path === '/link' && mode === null) return <Lazy load={link.load} props={{}} />
  if (now.kind === 'out') return <Lazy load={enter.load} props={{ pending: now.pending }} />
  // Screens that need no permission are a person's own, or an operator's: they are there without an organisation, too.
  const own = screens.find((screen) => match(screen.path, path) !== null && screen.needs === undefined)
  if (organization() === null && (mode === null || own === undefined)) return <Lazy load={begin.load} props={{}} />
  if (mode === null) return null
  return (
    <>
      <Shell>
        <Caught at={path}>
          <Screen path={path} />
        </Caught>
      </Shell>
      <Interruptions />
    </>
  )
}

function Screen({ path }: { path: string }) {
  const account = organization()
  for (const screen of screens) {
    const params = match(screen.path, path)
    if (!params) continue
    if (account?.disabled && !screen.isOperators && screen.needs) return <Away title={t.shell.disabled} text={t.shell.disabledText} />
    if (!isOpenTo(screen)) return <Away title={t.shell.notAllowed} text={t.shell.notAllowedText} />
    return <Lazy key={screen.path} load={screen.load} props={params} />
  }
  return <Away title={t.shell.notFound} text={t.shell.notFoundText} />
}

function Away({ title, text }: { title: string; text: string }) {
  return (
    <>
      <Head title={title} />
      <Card>
        <Empty glyph="find" title={title} text={text} />
      </Card>
    </>
  )
}
