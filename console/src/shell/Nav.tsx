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
import type { ReactNode } from 'react'
import { useEffect, useState } from 'react'
import { Link, useLocation, useRoute } from 'wouter'
import { EndpointNav } from '../endpoints/EndpointNav.tsx'
import { session } from '../live/outage.ts'
import { queryClient } from '../live/queryClient.ts'
import { Button } from '../parts/Button.tsx'
import { Mark, signOut } from '../signIn/SignIn.tsx'
import { hasPlan } from '../words/format.ts'
import { applyTheme } from './applyTheme.ts'
import { meQuery, openIncidentsQuery, watchdogsQuery } from './queries.ts'

const THEMES = {
  system: { Icon: SunMoon, words: 'Change theme (now: system)' },
  light: { Icon: Sun, words: 'Change theme (now: light)' },
  dark: { Icon: MoonStar, words: 'Change theme (now: dark)' },
} as const

/** The sidebar: the workspace, its endpoints, its other pages. */
export function Nav({ onGo, onKeys }: { onGo: () => void; onKeys: () => void }) {
  const me = useQuery(meQuery)
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
          <strong className="cut">{me.data?.workspace.name ?? '…'}</strong>
          {me.data !== undefined && hasPlan(me.data.plan) && <small>{me.data.plan.displayName} plan</small>}
        </div>
      </header>
      <EndpointNav />
      <ul className="places">
        <Place to="/search" icon={<Search size={15} />}>
          Search
        </Place>
        <Place to="/watchdogs" icon={<Timer size={15} />} badge={alarmed} about="alarmed">
          Watchdogs
        </Place>
        <Place
          to="/alerts"
          badge={incidents.data?.items.length ?? 0}
          about="open"
          icon={<BellRing size={15} />}
        >
          Alerts
        </Place>
        <Place to="/bin" icon={<Trash2 size={15} />}>
          Recycle bin
        </Place>
        <Place to="/usage" icon={<ChartNoAxesColumn size={15} />}>
          Usage
        </Place>
        <Place to="/access" icon={<KeyRound size={15} />}>
          Access
        </Place>
        <Place to="/audit" icon={<ScrollText size={15} />}>
          Audit
        </Place>
      </ul>
      <Footer onKeys={onKeys} />
    </nav>
  )
}

interface PlaceProps {
  readonly to: string
  readonly icon: ReactNode
  readonly badge?: number
  /** Meaning of the badge. */
  readonly about?: string
  readonly children: ReactNode
}

function Place({ to, icon, badge = 0, about = '', children }: PlaceProps) {
  const [isHere] = useRoute(`${to}/*?`)
  return (
    <li>
      <Link href={to} className="place" aria-current={isHere ? 'page' : undefined}>
        {icon}
        <span>{children}</span>
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
  const { Icon, words } = THEMES[theme]
  const leave = async () => {
    await signOut()
    queryClient.clear()
    session.set('in')
    navigate('/sign-in')
  }
  return (
    <footer>
      <Button look="quiet" onClick={next} title={words}>
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
