// The command palette: every screen by its name, and every object by its id.

import { useId, useState } from 'preact/hooks'
import { placeOf } from '../app/places.ts'
import { go } from '../app/router.ts'
import { Dialog } from '../parts/dialog.tsx'
import { type Glyph, Icon } from '../parts/icon.tsx'
import { screens } from '../screens.ts'
import { t } from '../texts/t.ts'
import { isOpenTo } from './allowed.ts'
import { opened } from './keys.ts'

interface Choice {
  label: string
  glyph: Glyph
  to: string
}

export function choices(typed: string): Choice[] {
  const text = typed.trim()
  const place = placeOf(text)
  if (place) return [{ label: t.shell.openId(text), glyph: 'right', to: place }]
  return screens.flatMap((screen) =>
    screen.menu && isOpenTo(screen) && screen.menu.label.toLowerCase().includes(text.toLowerCase()) ? [{ label: screen.menu.label, glyph: screen.menu.glyph, to: screen.path }] : [],
  )
}

export function Palette() {
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const id = useId()
  const found = choices(typed)
  const close = () => opened.set(null)
  const open = (choice: Choice | undefined) => {
    if (!choice) return
    close()
    go(choice.to)
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      setAt(Math.max(0, Math.min(found.length - 1, at + (event.key === 'ArrowDown' ? 1 : -1))))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      open(found[at])
    }
  }
  return (
    <Dialog title={t.shell.find} class="palette" onClose={close}>
      <div class="search field">
        <Icon name="find" />
        <input
          role="combobox"
          aria-label={t.shell.findHint}
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={found[at] ? `${id}-${at}` : undefined}
          placeholder={t.shell.findHint}
          autocomplete="off"
          autoFocus
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value)
            setAt(0)
          }}
          onKeyDown={press}
        />
      </div>
      <ul class="choices" role="listbox" id={id} aria-label={t.shell.find}>
        {found.map((choice, index) => (
          // Chosen with the arrow keys from the field, which keeps the focus.
          <li key={choice.to} id={`${id}-${index}`} role="option" aria-selected={index === at} onClick={() => open(choice)}>
            <Icon name={choice.glyph} />
            {choice.label}
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="dim">{t.shell.noMatch}</p>}
    </Dialog>
  )
}
