import { useState } from 'preact/hooks'
import { Buttons, Dialog } from '../parts/dialog.tsx'
import { screens } from '../screens.ts'
import { t } from '../texts/t.ts'
import { opened, setSingleKeys, singleKeys } from './keys.ts'

/** All keys, and the switch for those that are single letters. */
export function KeyList() {
  const [isOn, setOn] = useState(singleKeys)
  const lines: [string, string][] = [
    ['/', t.keyboard.find],
    ['Ctrl K', t.keyboard.palette],
    ['j', t.keyboard.down],
    ['k', t.keyboard.up],
    ['Enter', t.keyboard.enter],
    ['n', t.keyboard.create],
    ['?', t.keyboard.help],
  ]
  for (const screen of screens) if (screen.menu?.key) lines.push([`g ${screen.menu.key}`, screen.menu.label])
  const close = () => opened.set(null)
  return (
    <Dialog title={t.keyboard.title} onClose={close}>
      <dl class="facts">
        {lines.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <div class="tick">
        <input
          id="single-keys"
          type="checkbox"
          checked={isOn}
          onChange={(event) => {
            setOn(event.currentTarget.checked)
            setSingleKeys(event.currentTarget.checked)
          }}
        />
        <label for="single-keys">
          {t.keyboard.single}
          <span class="dim">{t.keyboard.singleHint}</span>
        </label>
      </div>
      <Buttons>
        <button type="button" class="btn" onClick={close}>
          {t.common.close}
        </button>
      </Buttons>
    </Dialog>
  )
}
