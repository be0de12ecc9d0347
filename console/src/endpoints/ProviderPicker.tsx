import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useId, useState } from 'react'
import { providersQuery } from '../queries.ts'

interface Props {
  readonly slug: string
  readonly onChange: (slug: string) => void
}

/** A signature scheme in words. Its encoding is left out: it is the provider's business. */
export function schemeText(scheme: string): string {
  const hmac = /^hmac-(sha\d+|md5)/.exec(scheme)?.[0]
  return hmac?.toUpperCase() ?? scheme.replaceAll('-', ' ')
}

const NO_PROVIDER = { slug: '', name: 'No provider', about: 'signatures are not checked' } as const

/** Choice of a provider from the catalog, with a search. */
export function ProviderPicker({ slug, onChange }: Props) {
  const providers = useQuery(providersQuery)
  const [typed, setTyped] = useState<string>()
  const [chosen, setChosen] = useState(0)
  const list = useId()
  const all = [
    NO_PROVIDER,
    ...(providers.data?.items ?? []).map(({ name, signatureHeader, slug: own, verification }) => ({
      slug: own,
      name,
      about:
        verification === null
          ? 'no signatures'
          : `${schemeText(verification.scheme)}${signatureHeader === null ? '' : ` in ${signatureHeader}`}`,
    })),
  ]
  const wanted = (typed ?? '').toLowerCase()
  const offered =
    typed === undefined
      ? []
      : all.filter(({ name, slug: own }) => `${name} ${own}`.toLowerCase().includes(wanted)).slice(0, 60)
  const current = all.find((one) => one.slug === slug)?.name ?? slug
  const choose = (next: string | undefined) => {
    if (next !== undefined) onChange(next)
    setTyped(undefined)
  }
  const press = (event: KeyboardEvent) => {
    if (typed === undefined) return
    if (event.key === 'ArrowDown') setChosen(Math.min(offered.length - 1, chosen + 1))
    else if (event.key === 'ArrowUp') setChosen(Math.max(0, chosen - 1))
    else if (event.key === 'Enter') choose(offered[chosen]?.slug)
    else if (event.key === 'Escape') choose(undefined)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div className="field picker">
      <label htmlFor={`${list}-input`}>Provider</label>
      <input
        id={`${list}-input`}
        className="input"
        role="combobox"
        aria-expanded={offered.length > 0}
        aria-controls={list}
        aria-activedescendant={offered.length > 0 ? `${list}-${chosen}` : undefined}
        value={typed ?? current}
        placeholder="stripe, github, shopify…"
        autoComplete="off"
        onFocus={(event) => event.target.select()}
        onChange={({ target }) => {
          setTyped(target.value)
          setChosen(0)
        }}
        onBlur={() => setTyped(undefined)}
        onKeyDown={press}
      />
      <div id={list} role="listbox" aria-label="Providers" className="options" hidden={offered.length === 0}>
        {offered.map((one, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the field chooses
          <div
            key={one.slug}
            id={`${list}-${at}`}
            role="option"
            aria-selected={at === chosen}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(one.slug)}
          >
            {one.name} <small>{one.about}</small>
          </div>
        ))}
      </div>
    </div>
  )
}
