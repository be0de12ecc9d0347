/** Last part of the name of the type that has every request of an endpoint. */
export const ANY = 'any'

/** Labels that are listed as types of their own. Others are strangers' text; `any` has them. */
const LISTABLE_LABEL = /^[A-Za-z0-9][\w.:/-]{0,79}$/

const SLUG_CHARACTERS_MAX = 40

/** Whether a label may be part of the name of an event type. */
export function isListable(label: string): boolean {
  return label !== ANY && LISTABLE_LABEL.test(label)
}

/** Slug of an endpoint's name: lower-case letters, digits and dashes, 40 characters at most; never empty. */
export function slugOf(name: string): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_CHARACTERS_MAX)
    .replaceAll(/^-+|-+$/g, '')
  return slug === '' ? 'endpoint' : slug
}

/** Parts of the name of an event type; undefined if it has no dot. */
export function partsOf(name: string): { readonly slug: string; readonly label: string } | undefined {
  const dot = name.indexOf('.')
  return dot < 0 ? undefined : { slug: name.slice(0, dot), label: name.slice(dot + 1) }
}
