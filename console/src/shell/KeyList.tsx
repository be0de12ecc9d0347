import { useState } from 'react'
import { Dialog } from '../parts/Dialog.tsx'
import { Switch } from '../parts/Switch.tsx'
import { areLettersOn, SHORTCUTS, switchLetters } from './shortcuts.ts'

const GROUPS = ['Captures', 'Request', 'Anywhere'] as const
const SHOWN: Readonly<Record<string, string>> = { Escape: 'Esc', Backspace: '⌫', Delete: 'Del' }

/** List of the keyboard shortcuts. */
export function KeyList({ onClose }: { onClose: () => void }) {
  const [isOn, setOn] = useState(areLettersOn)
  const change = (on: boolean) => {
    switchLetters(on)
    setOn(on)
  }
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} size="wide">
      <div className="keys">
        {GROUPS.map((group) => (
          <section key={group} aria-label={group}>
            <h3>{group}</h3>
            <dl>
              {Object.values(SHORTCUTS)
                .filter((shortcut) => shortcut.group === group)
                .map(({ keys, words }) => (
                  <div key={words}>
                    <dt>
                      {keys.map((key) => (
                        <kbd key={key}>{SHOWN[key] ?? key}</kbd>
                      ))}
                    </dt>
                    <dd>{words}</dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
      <Switch isOn={isOn} onChange={change} label="Single-key shortcuts">
        Single-key shortcuts
      </Switch>
    </Dialog>
  )
}
