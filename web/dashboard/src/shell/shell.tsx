// What stands around every screen: the menu, the mode, the organisation, the band of test mode.

import type { ComponentChildren } from 'preact'
import { Announcements } from '#shared/parts/announce.tsx'
import { countAt, needs, useNeeds } from '../api/needs.ts'
import { chooseOrganization, session, useOrganization } from '../api/session.ts'
import { go, href, type Mode, usePlace } from '../app/router.ts'
import { savedTheme, setTheme, THEMES, type Theme } from '../app/theme.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { Toast } from '../parts/toast.tsx'
import { type Screen, screens } from '../screens.ts'
import { t } from '../texts/t.ts'
import { isOpenTo } from './allowed.ts'
import { KeyList } from './keylist.tsx'
import { opened, useShellKeys } from './keys.ts'
import { Palette } from './palette.tsx'
import { signOut } from './sign-out.ts'

const MODES: [Mode, string][] = [
  ['test', t.common.test],
  ['live', t.common.live],
]

/** Switching keeps the screen and never the object: an invoice of test mode is not there in live mode. */
function screenOf(path: string): string {
  return path.split('/').slice(0, 2).join('/') || '/'
}

function ModeSwitch() {
  const { mode, path } = usePlace()
  return (
    <div class="mode" role="group" aria-label={t.shell.mode}>
      {MODES.map(([one, label]) => (
        <a key={one} href={href(screenOf(path), one)} aria-current={one === mode ? 'true' : undefined}>
          {label}
        </a>
      ))}
    </div>
  )
}

function isCurrent(screen: Screen, path: string): boolean {
  return screen.path === path || (screen.path !== '/' && path.startsWith(`${screen.path}/`))
}

function Entry({ screen, path }: { screen: Screen; path: string }) {
  const waiting = countAt(screen.path, needs.use())
  if (!screen.menu) return null
  return (
    <a href={href(screen.path)} aria-current={isCurrent(screen, path) ? 'page' : undefined}>
      <Icon name={screen.menu.glyph} />
      {screen.menu.label}
      {waiting > 0 && (
        <span class="count">
          {waiting}
          <span class="sr"> {t.shell.waiting}</span>
        </span>
      )}
    </a>
  )
}

function Entries({ path }: { path: string }) {
  const shown = screens.filter((screen) => screen.menu && isOpenTo(screen))
  const groups = (['work', 'setup', 'own'] as const).map((group) => shown.filter((screen) => screen.menu?.group === group))
  return (
    <>
      {groups
        .filter((group) => group.length > 0)
        .map((group, at) => (
          <div key={group[0]?.path} class={at > 0 ? 'group ruled' : 'group'}>
            {group.map((screen) => (
              <Entry key={screen.path} screen={screen} path={path} />
            ))}
          </div>
        ))}
    </>
  )
}

/** The organisation; with several a native list to change between them. */
function Organizations() {
  const now = useOrganization()
  const all = session()?.organizations ?? []
  const name = now?.name ?? t.product
  return (
    <div class="org">
      <i class="mark" aria-hidden="true">
        {[...name][0]?.toUpperCase()}
      </i>
      <span>{name}</span>
      {all.length > 1 && (
        <>
          <Icon name="chevron" />
          <select
            aria-label={t.shell.organizations}
            value={now?.id}
            onChange={(event) => {
              chooseOrganization(event.currentTarget.value)
              go('/')
            }}
          >
            {all.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
              </option>
            ))}
          </select>
        </>
      )}
    </div>
  )
}

/** Who is signed in, the colours, the way out. */
function Me() {
  return (
    <div class="me">
      <span class="who">{session()?.user.email}</span>
      <label class="theme">
        <span class="sr">{t.shell.theme}</span>
        <select value={savedTheme()} onChange={(event) => setTheme(event.currentTarget.value as Theme)}>
          {THEMES.map((theme) => (
            <option key={theme} value={theme}>
              {t.shell.themes[theme]}
            </option>
          ))}
        </select>
      </label>
      <button type="button" class="link" onClick={() => void signOut()}>
        {t.shell.signOut}
      </button>
      <button type="button" class="link hide" onClick={() => opened.set('keys')}>
        <kbd>?</kbd> {t.shell.keys}
      </button>
    </div>
  )
}

function PhoneMenu({ path }: { path: string }) {
  return (
    <Dialog title={t.shell.main} class="sheet" onClose={() => opened.set(null)}>
      <nav class="side open" aria-label={t.shell.main} onClick={() => opened.set(null)}>
        <Entries path={path} />
      </nav>
      <Me />
      <button type="button" class="btn" onClick={() => opened.set(null)}>
        {t.common.close}
      </button>
    </Dialog>
  )
}

export function Shell({ children }: { children: ComponentChildren }) {
  useShellKeys()
  useNeeds()
  const { mode, path } = usePlace()
  const open = opened.use()
  const tabs = screens.filter((screen) => screen.menu?.isTab && isOpenTo(screen)).slice(0, 4)
  return (
    <div class={`dash ${mode === 'test' ? 'test' : ''}`}>
      <a class="skip" href="#content">
        {t.shell.skip}
      </a>
      {mode === 'test' && (
        <section class="testmode" aria-label={t.shell.mode}>
          <span>{t.shell.testBand}</span> <a href={href(screenOf(path), 'live')}>{t.shell.toLive}</a>
        </section>
      )}
      <div class="shell">
        <nav class="side" aria-label={t.shell.main}>
          <Organizations />
          <ModeSwitch />
          <button type="button" class="finder" onClick={() => opened.set('palette')}>
            <Icon name="find" />
            {t.keyboard.find}
            <kbd>Ctrl K</kbd>
          </button>
          <Entries path={path} />
          <Me />
        </nav>
        <div class="bar">
          <Organizations />
          <ModeSwitch />
        </div>
        <main class="pane" id="content" tabIndex={-1}>
          <Announcements />
          {children}
        </main>
      </div>
      <nav class="tabbar" aria-label={t.shell.main}>
        {tabs.map((screen) => (
          <Entry key={screen.path} screen={screen} path={path} />
        ))}
        <button type="button" onClick={() => opened.set('menu')}>
          <Icon name="menu" />
          {t.shell.more}
        </button>
      </nav>
      <Toast />
      {open === 'palette' && <Palette />}
      {open === 'keys' && <KeyList />}
      {open === 'menu' && <PhoneMenu path={path} />}
    </div>
  )
}
