import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { useLocation, useRoute } from 'wouter'
import { copyText } from '../parts/CopyButton.tsx'
import { Dialog } from '../parts/Dialog.tsx'
import { Switch } from '../parts/Segments.tsx'
import { areLettersOn, SHORTCUTS, switchLetters } from '../parts/shortcuts.ts'
import { endpointsQuery } from '../queries.ts'
import { count } from '../words/format.ts'
import { useTheme } from './Nav.tsx'

interface Command {
  /** Differs between the commands of the list, whose words may be the same: the path of a page. */
  readonly id: string
  readonly words: string
  readonly about: string
  readonly run: () => void
}

const SHOWN_MAX = 40

/** Command palette: finds pages and commands by part of their name; `#123` opens a request of the current endpoint. */
export function Palette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const list = useId()
  const [typed, setTyped] = useState('')
  const [chosen, setChosen] = useState(0)
  useEffect(() => dialog.current?.showModal(), [])
  const { data } = useQuery(endpointsQuery)
  const offered = useCommands(typed)
    .filter(({ about, words }) => matches(`${words} ${about}`, typed))
    .slice(0, SHOWN_MAX)
  const run = (command: Command | undefined) => {
    if (command === undefined) return
    onClose()
    command.run()
  }
  const press = (event: KeyboardEvent) => {
    // While an input method composes text, its keys (Enter too) belong to it.
    if (event.nativeEvent.isComposing) return
    if (event.key === 'ArrowDown') setChosen(Math.min(offered.length - 1, chosen + 1))
    else if (event.key === 'ArrowUp') setChosen(Math.max(0, chosen - 1))
    else if (event.key === 'Enter') run(offered[chosen])
    else return
    event.preventDefault()
  }
  useEffect(() => {
    // In braces, because browsers return a promise, which an effect must not return.
    void document.getElementById(`${list}-${chosen}`)?.scrollIntoView({ block: 'nearest' })
  }, [list, chosen])
  return (
    <dialog
      ref={dialog}
      className="dialog palette"
      aria-label="Go to a page or run a command"
      onClose={onClose}
    >
      <input
        role="combobox"
        aria-label="Go to a page or run a command"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={`${list}-${chosen}`}
        placeholder="Go to an endpoint, a page, #request, or search…"
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value)
          setChosen(0)
        }}
        onKeyDown={press}
      />
      <ul id={list} role="listbox" aria-label="Results">
        {offered.map((command, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the field runs it
          <li
            key={command.id}
            id={`${list}-${at}`}
            role="option"
            aria-selected={at === chosen}
            onClick={() => run(command)}
          >
            {command.words} <small>{command.about}</small>
          </li>
        ))}
      </ul>
      {data !== undefined && data.totalCount > data.items.length && (
        <p className="hint pad">
          Of {count(data.totalCount)} endpoints, only the newest {count(data.items.length)} are found here.
        </p>
      )}
    </dialog>
  )
}

function useCommands(typed: string): Command[] {
  const endpoints = useQuery(endpointsQuery)
  const [, navigate] = useLocation()
  const [, here] = useRoute('/e/:endpointId/*?')
  const [, nextTheme] = useTheme()
  const go = (words: string, about: string, path: string): Command => ({
    id: path,
    words,
    about,
    run: () => navigate(path),
  })
  const items = endpoints.data?.items ?? []
  const byName = Map.groupBy(items, ({ name }) => name)
  const current = items.find(({ id }) => id === here?.endpointId)
  const id = /^#?(\d{1,15})$/.exec(typed.trim())?.[1]
  const ofCurrent =
    current === undefined
      ? []
      : [
          ...(id === undefined
            ? []
            : [go(`#${id}`, `request of ${current.name}`, `/e/${current.id}?r=${id}`)]),
          go('Actions', current.name, `/e/${current.id}/actions`),
          go('Add action', current.name, `/e/${current.id}/actions/new`),
          go('Rules', current.name, `/e/${current.id}/rules`),
          go('Deliveries', current.name, `/e/${current.id}/deliveries`),
          go('Dead letters', current.name, `/e/${current.id}?q=needs:replay`),
          go('Send a sample event', current.name, `/e/${current.id}?sample=1`),
          go('Settings', current.name, `/e/${current.id}/settings`),
          {
            id: 'copy',
            words: 'Copy capture URL',
            about: current.name,
            run: () => void copyText(current.url),
          },
        ]
  return [
    ...ofCurrent,
    ...items.map(({ id: own, name }) => {
      const isAlone = byName.get(name)?.length === 1
      return go(name, isAlone ? 'endpoint' : `endpoint ${own.slice(0, 4)}`, `/e/${own}`)
    }),
    go('Search all endpoints', 'page', '/search'),
    go('Watchdogs', 'page', '/watchdogs'),
    go('Add watchdog', 'command', `/watchdogs/new${current === undefined ? '' : `?endpoint=${current.id}`}`),
    go('Alerts', 'page', '/alerts'),
    go('Recycle bin', 'page', '/bin'),
    go('Usage and limits', 'page', '/usage'),
    go('Health', 'page', '/health'),
    go('Access: keys, sessions, contacts', 'page', '/access'),
    go('Audit log', 'page', '/audit'),
    { id: 'theme', words: 'Change theme', about: 'light, dark, system', run: nextTheme },
    ...(typed.trim() === ''
      ? []
      : [go(typed.trim(), 'search all endpoints', `/search?q=${encodeURIComponent(typed.trim())}`)]),
    { id: '/docs', words: 'API documentation', about: 'page', run: () => location.assign('/docs') },
  ]
}

/** Whether every typed word occurs. */
function matches(text: string, typed: string): boolean {
  const lower = text.toLowerCase()
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word))
}

const GROUPS = ['Captures', 'Request', 'Anywhere'] as const
const SHOWN: Readonly<Record<string, string>> = { Escape: 'Esc', Backspace: '⌫', Delete: 'Del' }

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
