import { Menu as MenuIcon } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { followWorkspace } from '../live/followWorkspace.ts'
import { Boundary, lazyPart, OutageNote } from '../parts/Boundary.tsx'
import { Button } from '../parts/Button.tsx'
import { useShortcuts } from '../parts/shortcuts.ts'
import { Nav } from './Nav.tsx'

const loadPalette = () => import('./Palette.tsx')
const Palette = lazyPart(async () => (await loadPalette()).Palette)
const KeyList = lazyPart(async () => (await loadPalette()).KeyList)

/** The sidebar, and next to it the current page. */
export function Shell({ children }: { children: ReactNode }) {
  const [isNavOpen, setNavOpen] = useState(false)
  const [over, setOver] = useState<'palette' | 'keys' | null>(null)
  useShortcuts({
    palette: () => setOver('palette'),
    keys: () => setOver('keys'),
  })
  // Preloaded, so that no key is lost when the palette opens.
  useEffect(() => void loadPalette().catch(() => undefined), [])
  useEffect(followWorkspace, [])
  const close = () => setOver(null)
  return (
    <div className="shell" data-nav={isNavOpen ? 'open' : 'closed'}>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <Button
        look="quiet nav-toggle"
        aria-expanded={isNavOpen}
        aria-controls="nav"
        aria-label="Menu"
        onClick={() => setNavOpen(!isNavOpen)}
      >
        <MenuIcon size={16} />
      </Button>
      <Boundary instead={null}>
        <Nav onGo={() => setNavOpen(false)} onKeys={() => setOver('keys')} />
      </Boundary>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button above closes it by keyboard */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: as above */}
      <div className="scrim" onClick={() => setNavOpen(false)} />
      <OutageNote />
      {children}
      {over === 'palette' && <Palette onClose={close} />}
      {over === 'keys' && <KeyList onClose={close} />}
    </div>
  )
}
