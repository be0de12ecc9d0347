import { useQuery } from '@tanstack/react-query'
import {
  BellRing,
  BookOpen,
  ChartNoAxesColumn,
  Keyboard,
  KeyRound,
  LogOut,
  MoonStar,
  ScrollText,
  Search,
  Sun,
  SunMoon,
  Timer,
  Trash2,
} from 'lucide-react'
import type { ComponentType } from 'react'
import { useEffect, useState } from 'react'
import { Link, useLocation, useRoute } from 'wouter'
import { EndpointNav } from '../endpoints/EndpointNav.tsx'
import { queryClient } from '../live/queryClient.ts'
import { session } from '../outage.ts'
import { Button } from '../parts/Button.tsx'
import { toast } from '../parts/Toasts.tsx'
import { openIncidentsQuery, sessionQuery, watchdogsQuery } from '../queries.ts'
import { Mark } from '../signIn/Mark.tsx'
import { forgetDrafts } from '../usePersisted.ts'
import { hasPlan } from '../words/format.ts'
import { applyTheme } from './applyTheme.ts'

const THEMES = { system: SunMoon, light: Sun, dark: MoonStar } as const

/** The sidebar: the workspace, its endpoints, its other pages. */
export function Nav({ onGo, onKeys }: { onGo: () => void; onKeys: () => void }) {
  const current = useQuery(sessionQuery)
  const watchdogs = useQuery(watchdogsQuery)
  const incidents = useQuery(openIncidentsQuery)
  const alarmed = watchdogs.data?.items.filter(({ state }) => state === 'alarmed').length ?? 0
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: links inside are keyboard targets; this closes the drawer after them
    <nav
      id="nav"
      className="nav"
      aria-label="Workspace"
      onClick={(event) => {
        if (event.target instanceof Element && event.target.closest('a') !== null) onGo()
      }}
    >
      <header>
        <Mark size={24} />
        <div>
          <strong className="cut">{current.data?.workspace.name ?? '…'}</strong>
          {current.data !== undefined && hasPlan(current.data.plan) && (
            <small>{current.data.plan.displayName} plan</small>
          )}
        </div>
      </header>
      <EndpointNav />
      <ul className="places">
        <Place to="/search" icon={Search} name="Search" />
        <Place to="/watchdogs" icon={Timer} badge={alarmed} about="alarmed" name="Watchdogs" />
        <Place
          to="/alerts"
          icon={BellRing}
          badge={incidents.data?.totalCount ?? 0}
          about="open"
          name="Alerts"
        />
        <Place to="/bin" icon={Trash2} name="Recycle bin" />
        <Place to="/usage" icon={ChartNoAxesColumn} name="Usage" />
        <Place to="/access" icon={KeyRound} name="Access" />
        <Place to="/audit" icon={ScrollText} name="Audit" />
      </ul>
      <Footer onKeys={onKeys} />
    </nav>
  )
}

interface PlaceProps {
  readonly to: string
  readonly icon: ComponentType<{ size: number }>
  readonly badge?: number
  readonly about?: string
  readonly name: string
}

function Place({ to, icon: Icon, badge = 0, about = '', name }: PlaceProps) {
  const [isHere] = useRoute(`${to}/*?`)
  return (
    <li>
      <Link href={to} className="place" aria-current={isHere ? 'page' : undefined}>
        <Icon size={15} />
        <span>{name}</span>
        {badge > 0 && (
          <span className="badge" data-tone="bad">
            {badge}
            <span className="sr-only"> {about}</span>
          </span>
        )}
      </Link>
    </li>
  )
}

function Footer({ onKeys }: { onKeys: () => void }) {
  const [theme, next] = useTheme()
  const [, navigate] = useLocation()
  const Icon = THEMES[theme]
  const leave = async () => {
    const refusal = await fetch('/console/session', { method: 'DELETE' }).then(
      ({ ok, status }) => (ok ? undefined : `the service answered ${status}.`),
      () => 'the service cannot be reached.',
    )
    if (refusal !== undefined) {
      toast(`You are still signed in: ${refusal}`)
      return
    }
    forgetDrafts()
    queryClient.clear()
    session.set('in')
    navigate('/sign-in')
  }
  return (
    <footer>
      <Button look="quiet" onClick={next} title={`Change theme (now: ${theme})`}>
        <Icon size={15} /> Theme
      </Button>
      <span className="acts">
        <a className="button quiet icon" href="/docs" title="API" aria-label="API documentation">
          <BookOpen size={15} />
        </a>
        <Button look="quiet icon" onClick={onKeys} title="Keys (?)" aria-label="Keys">
          <Keyboard size={15} />
        </Button>
        <Button look="quiet icon" onClick={() => void leave()} label="Sign out">
          <LogOut size={15} />
        </Button>
      </span>
    </footer>
  )
}

const CHOICES = ['system', 'light', 'dark'] as const

/** The user's choice; `system` follows the device. */
export type Theme = (typeof CHOICES)[number]

/** The theme, kept in this browser, and a function that switches to the next one. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(
    () => CHOICES.find((known) => known === localStorage.getItem('theme')) ?? 'system',
  )
  useEffect(() => {
    localStorage.setItem('theme', theme)
    applyTheme()
  }, [theme])
  return [theme, () => setTheme(CHOICES[(CHOICES.indexOf(theme) + 1) % CHOICES.length] ?? 'system')]
}
