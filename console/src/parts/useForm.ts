import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect, useId, useRef, useState } from 'react'
import { isCallError } from '../trpc.ts'
import { changeKept, usePersisted } from '../usePersisted.ts'
import { type ProblemWords, problemAt, problemBeside, problemOf } from '../words/problem.ts'
import { toast } from './Toasts.tsx'

/**
 * A call that changes something.
 *
 * @param stale beginnings of the keys of the queries that it may change; they are read again, also after a refusal
 * @param onSuccess called before that, also when the component has left the page
 * @param onward called first, if the component is still on the page: it may lead elsewhere
 * @param mutationKey by which other components find the call
 */
export function useCall<Answer, Input = void>(
  call: (input: Input) => Promise<Answer>,
  stale: readonly QueryKey[] = [],
  onSuccess: (answer: Answer, input: Input) => unknown = () => undefined,
  onward: (answer: Answer, input: Input) => unknown = () => undefined,
  mutationKey: readonly string[] = [],
) {
  const queries = useQueryClient()
  const isThere = useIsThere()
  // A press may come before the page shows that the call is under way.
  const underWay = useRef(new Set<string>())
  const made = useMutation({
    mutationKey,
    mutationFn: call,
    onSuccess: async (answer, input) => {
      if (isThere.current) await onward(answer, input)
      await onSuccess(answer, input)
    },
    onSettled: async (_answer, _error, input) => {
      await Promise.all(stale.map((queryKey) => queries.invalidateQueries({ queryKey })))
      underWay.current.delete(nameOf(input))
    },
  })
  /** Makes the call, unless the same one is under way. */
  const mutate = (input: Input) => {
    if (underWay.current.has(nameOf(input))) return
    underWay.current.add(nameOf(input))
    made.mutate(input)
  }
  /** A button that makes the call, and is disabled while one is under way. */
  const button = (input: Input) => ({ disabled: made.isPending, onClick: () => mutate(input) })
  return { ...made, mutate, button, isUnderWay: () => underWay.current.size > 0 }
}

const nameOf = (input: unknown) => JSON.stringify(input) ?? ''

/** Whether the component is on the page, for answers that come after it has left. */
function useIsThere() {
  const isThere = useRef(true)
  useEffect(() => {
    isThere.current = true
    return () => {
      isThere.current = false
    }
  }, [])
  return isThere
}

interface Options<Draft, Saved> {
  /** Name under which the draft is kept in this tab. Without one, the draft is lost with the form. */
  readonly keptAs?: string
  readonly begin: () => Draft
  /** Reads the stored version as a draft, to detect changes by other users before they are overwritten. */
  readonly stored?: (() => Promise<Draft | undefined>) | undefined
  /** Members in which a new draft differs from what is stored. */
  readonly preset?: Partial<Draft>
  /** Saves the draft. `before` is the stored version that it began with. */
  readonly save: (draft: Draft, before: Draft) => Promise<Saved>
  /** The saved thing as a draft, for a form that makes something and may go on as the form that changes it. */
  readonly draftOfSaved?: (saved: Saved) => Draft
  /** Deletes the stored version; undefined if there is none. */
  readonly remove?: (() => Promise<unknown>) | undefined
  /** Beginnings of the keys of the queries that saving or deleting may change. */
  readonly stale?: readonly QueryKey[]
  /** Called after the API accepted the draft, also when the form has left the page. */
  readonly tell?: (saved: Saved) => unknown
  /** Text of a note for an answer that comes after the form has left the page. */
  readonly away?: (saved: Saved) => string
  /** How the form goes on then, unless the draft was changed since it was sent. By default it stays. */
  readonly ends?: 'closed' | 'anew'
  /**
   * Called then, if the form is still on the page: it may lead elsewhere. The kept draft is deleted by `forget` and
   * `close`, and where there is a stored version, unless it was changed while it was saved.
   *
   * @param typed returns the draft if it was changed since it was sent
   */
  readonly onSaved?: (saved: Saved, typed: () => Draft | undefined) => unknown
  /** Removes the form from the page. */
  readonly onClose?: () => void
}

const UNSURE = 'It may have been done all the same: look before you try again.'

/** A draft, and the stored version that it began with. */
interface Kept<Draft> {
  readonly draft: Draft
  readonly began: Draft
}

/** The version that another user saved since the form was opened, and the draft. */
export interface Conflict {
  readonly theirs: object
  readonly mine: object
  readonly takeTheirs: () => void
  /** Keeps the draft, and overwrites the stored version on the next save. */
  readonly keepMine: () => void
}

/** One member of a draft, as its field takes it. */
export interface Bound<Value> {
  readonly value: Value
  readonly problem: string
  readonly onChange: (value: Value) => void
}

/** A draft, or an object in it, with the API's messages about it. */
export interface Part<Draft> {
  readonly draft: Draft
  readonly change: (members: Partial<Draft>) => void
  /** Messages about a member and everything below it, which the caller shows; empty if there are none. */
  readonly at: (member: string) => string
  /**
   * Value of a member, with what a field of it needs.
   *
   * @param pointer the member's place in the API's input, if it has another name there
   */
  readonly field: <Name extends keyof Draft & string>(member: Name, pointer?: string) => Bound<Draft[Name]>
  readonly part: <Name extends keyof Draft & string>(member: Name) => Part<Draft[Name]>
}

/** A form: its draft, and the API's messages about it. */
export interface Form<Draft, Saved> extends Part<Draft> {
  /** Whether the draft differs from the stored version that it began with. */
  readonly isChanged: boolean
  readonly isSaving: boolean
  readonly saved: Saved | undefined
  readonly problem: ProblemWords | null
  /** Messages about all members that this render has asked nothing about. Call it last. */
  readonly beside: () => readonly string[]
  readonly conflict: Conflict | null
  /** Starts over with the stored version. */
  readonly reset: (stored: Draft) => void
  /** The call that deletes and closes; undefined if there is nothing to delete. */
  readonly removal:
    | { readonly error: unknown; readonly isPending: boolean; readonly mutate: () => void }
    | undefined
  /** Saves, one save at a time. `members` are sent in place of the draft's. */
  readonly submit: (event?: FormEvent, members?: Partial<Draft>) => void
  /** Deletes the kept draft, after it was saved or discarded. */
  readonly forget: () => void
  /** Leaves the form, and deletes the kept draft. */
  readonly close: () => void
}

function partOf<Draft>(
  draft: Draft,
  set: (update: (now: Draft) => Draft) => void,
  at: (member: string) => string,
): Part<Draft> {
  return {
    draft,
    at,
    change: (members) => set((now) => ({ ...now, ...members })),
    field: (member, pointer = member) => ({
      value: draft[member],
      problem: at(pointer),
      onChange: (value) => set((now) => ({ ...now, [member]: value })),
    }),
    part: (member) =>
      partOf(
        draft[member],
        (update) => set((now) => ({ ...now, [member]: update(now[member]) })),
        (below) => at(`${member}/${below}`),
      ),
  }
}

/**
 * Behaviour of every form: keeps the draft through refusals and reloads, saves it once, and shows the API's messages at
 * their fields.
 */
export function useForm<Draft extends object, Saved>({
  keptAs,
  begin,
  preset,
  stored,
  save,
  draftOfSaved,
  remove,
  stale = [],
  tell,
  away,
  ends,
  onSaved,
  onClose,
}: Options<Draft, Saved>): Form<Draft, Saved> {
  const [{ draft, began }, setKept, forget, reread] = usePersisted(keptAs, (): Kept<Draft> => {
    const first = begin()
    return { draft: { ...first, ...preset }, began: first }
  })
  const [theirs, setTheirs] = useState<Draft>()
  const latest = useRef(draft)
  latest.current = draft
  const isThere = useIsThere()
  const own = useId()
  const mutationKey = ['save', keptAs ?? own]
  const queries = useQueryClient()
  const wordsOf = (error: unknown) => {
    const words = problemOf(error)
    // Without an answer, what makes something may have made it.
    return stored === undefined && words.status === undefined && isCallError(error)
      ? { ...words, detail: `${words.detail} ${UNSURE}` }
      : words
  }
  const send = async (members: Partial<Draft> | undefined) => {
    const now = (await stored?.()) ?? began
    const mine = merged({ ...draft, ...members }, began, now)
    if (mine === undefined) {
      setTheirs(now)
      return undefined
    }
    const answer = await save(mine, now)
    // It is saved: a read that fails must not look like a refusal.
    const after = await stored?.().catch(() => undefined)
    return { answer, sent: draft, now: after ?? draftOfSaved?.(answer) ?? draft }
  }
  const saving = useCall(
    async (members: Partial<Draft> | undefined) => {
      try {
        return await send(members)
      } catch (error) {
        // A form that is kept says it when it is opened again.
        if (!isThere.current && keptAs === undefined) toast(wordsOf(error).detail)
        throw error
      } finally {
        // Beside it: the answer may be shown only once, and the form may be opened again.
        for (const queryKey of stale) void queries.invalidateQueries({ queryKey })
      }
    },
    [],
    async (outcome) => {
      if (outcome === undefined) return
      const { answer, now, sent } = outcome
      tell?.(answer)
      // Text that was typed during the save stays, on top of the stored version.
      const rest = (kept: Kept<Draft>) => ({ draft: overwritten(kept.draft, sent, now), began: now })
      if (!isThere.current) {
        if (away !== undefined) toast(away(answer))
        if (keptAs !== undefined && (ends ?? onSaved) !== undefined)
          changeKept(keptAs, { draft, began }, (kept) =>
            isSame(kept.draft, sent) ? undefined : stored === undefined ? kept : rest(kept),
          )
        return
      }
      if (stored === undefined && draftOfSaved !== undefined) forget()
      setKept(rest)
      const typed = () => (isSame(latest.current, sent) ? undefined : latest.current)
      if (stored !== undefined && typed() === undefined) forget()
      if (ends !== undefined && typed() === undefined) {
        if (ends === 'closed') close()
        else beginAnew()
      }
      await onSaved?.(answer, typed)
    },
    undefined,
    mutationKey,
  )
  const close = () => {
    forget()
    onClose?.()
  }
  const removing = useCall(async () => await remove?.(), stale, forget, close)
  const problem = saving.error === null ? null : wordsOf(saving.error)
  const settle = (next: Draft, now: Draft) => {
    setTheirs(undefined)
    setKept({ draft: next, began: now })
  }
  const beginAnew = () => {
    const first = begin()
    settle(first, first)
    forget()
  }
  // A form without changes shows what is stored, also when that was changed elsewhere.
  const seen = useRef('')
  useEffect(() => {
    if (stored === undefined) return
    const now = JSON.stringify(begin())
    if (now === seen.current) return
    seen.current = now
    const isOlder = isSame(draft, began) && now !== JSON.stringify(began)
    if (isOlder && !saving.isPending) beginAnew()
  })
  // The form was left while it was saved, and opened again.
  const [isAway, setAway] = useState(() => queries.isMutating({ mutationKey }) > 0)
  useEffect(() => {
    if (!isAway) return
    const look = () => {
      const last = queries.getMutationCache().findAll({ mutationKey }).at(-1)?.state
      if (last?.status === 'pending') return
      setAway(false)
      if (last?.status === 'error') toast(wordsOf(last.error).detail)
      else if (!reread()) {
        beginAnew()
        onClose?.()
      }
    }
    look()
    return queries.getMutationCache().subscribe(look)
  })
  const shown: string[] = []
  const at = (member: string) => {
    shown.push(member)
    return problemAt(problem, member)
  }
  return {
    ...partOf(draft, (update) => setKept((kept) => ({ ...kept, draft: update(kept.draft) })), at),
    isChanged: !isSame(draft, began),
    isSaving: saving.isPending || isAway,
    saved: saving.data?.answer,
    problem,
    beside: () => problemBeside(problem, shown),
    conflict:
      theirs === undefined
        ? null
        : {
            theirs,
            mine: draft,
            takeTheirs: () => settle(theirs, theirs),
            keepMine: () => settle(overwritten(draft, began, theirs), theirs),
          },
    removal: remove === undefined ? undefined : removing,
    reset: (now) => settle(now, now),
    submit: (event, members) => {
      event?.preventDefault()
      if (!saving.isUnderWay() && !isAway) saving.mutate(members)
    },
    forget,
    close,
  }
}

/** Members of a draft that differ from another one. */
export const changesOf = (draft: object, from: object): [string, unknown][] =>
  Object.entries(draft).filter(([name, value]) => !isSame(value, Reflect.get(from, name)))

/** A stored version with what was changed here; undefined if a member was changed here and there, and differs. */
function merged<Draft extends object>(mine: Draft, began: Draft, theirs: Draft): Draft | undefined {
  const isClash = changesOf(mine, began).some(([name, value]) => {
    const other: unknown = Reflect.get(theirs, name)
    return !isSame(other, Reflect.get(began, name)) && !isSame(other, value)
  })
  return isClash ? undefined : overwritten(mine, began, theirs)
}

/** A stored version with what was changed here. */
const overwritten = <Draft extends object>(mine: Draft, began: Draft, theirs: Draft): Draft => ({
  ...theirs,
  ...Object.fromEntries(changesOf(mine, began)),
})

/** Drafts are plain data with a fixed order of members, so their JSON can be compared. */
const isSame = (left: unknown, right: unknown) => JSON.stringify(left) === JSON.stringify(right)
