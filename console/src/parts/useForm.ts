import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type ProblemWords, problemAt, problemBeside, problemOf } from '../words/problem.ts'
import { usePersisted } from './usePersisted.ts'

interface Options<Draft, Saved> {
  /** Name under which the draft is kept in this tab. Without one, the draft is lost with the form. */
  readonly keptAs?: string
  readonly begin: () => Draft
  /** Reads the stored version as a draft, to detect changes by other users before they are overwritten. */
  readonly stored?: (() => Promise<Draft | undefined>) | undefined
  readonly save: (draft: Draft) => Promise<Saved>
  /** Called after the API accepted the draft. Only `forget` deletes the kept draft. */
  readonly onSaved?: (saved: Saved) => unknown
}

/** The version that another user saved since the form was opened, and the draft. */
export interface Conflict {
  readonly theirs: object
  readonly mine: object
  /** Discards the draft. */
  readonly takeTheirs: () => void
  /** Keeps the draft, and overwrites the stored version on the next save. */
  readonly keepMine: () => void
}

/** A form: its draft, and the API's messages about it. */
export interface Form<Draft, Saved> {
  readonly draft: Draft
  /** Changes some members of the draft. */
  readonly change: (members: Partial<Draft>) => void
  readonly isSaving: boolean
  /** Answer to the last save. */
  readonly saved: Saved | undefined
  readonly problem: ProblemWords | null
  /** Messages about a member and everything below it; empty if there are none. */
  readonly at: (member: string) => string
  /** Messages about all other members. */
  readonly beside: (members: readonly string[]) => readonly string[]
  readonly conflict: Conflict | null
  /** Starts over with the stored version. */
  readonly reset: (stored: Draft) => void
  /** Saves, one save at a time. */
  readonly submit: (event?: FormEvent) => void
  /** Deletes the kept draft, after it was saved or discarded. */
  readonly forget: () => void
}

/**
 * Behaviour of every form: keeps the draft through refusals and reloads, saves it once, and shows the API's messages at
 * their fields.
 */
export function useForm<Draft extends object, Saved>({
  keptAs,
  begin,
  stored,
  save,
  onSaved,
}: Options<Draft, Saved>): Form<Draft, Saved> {
  const [{ draft, began }, setKept, forget] = usePersisted(keptAs, () => {
    const first = begin()
    return { draft: first, began: first }
  })
  const [theirs, setTheirs] = useState<Draft>()
  const saving = useMutation({
    mutationFn: async () => {
      const now = await stored?.()
      if (now !== undefined && !isSame(now, began) && !isSame(now, draft)) {
        setTheirs(now)
        return undefined
      }
      const answer = await save(draft)
      return { answer, now: (await stored?.()) ?? draft }
    },
    onSuccess: async (outcome) => {
      if (outcome === undefined) return
      setKept((kept) => ({ ...kept, began: outcome.now }))
      await onSaved?.(outcome.answer)
    },
  })
  const problem = saving.error === null ? null : problemOf(saving.error)
  const settle = (next: Draft, now: Draft) => {
    setTheirs(undefined)
    setKept({ draft: next, began: now })
  }
  return {
    draft,
    change: (members) => setKept((kept) => ({ ...kept, draft: { ...kept.draft, ...members } })),
    isSaving: saving.isPending,
    saved: saving.data?.answer,
    problem,
    at: (member) => problemAt(problem, member),
    beside: (members) => problemBeside(problem, members),
    conflict:
      theirs === undefined
        ? null
        : {
            theirs,
            mine: draft,
            takeTheirs: () => settle(theirs, theirs),
            keepMine: () => settle(draft, theirs),
          },
    reset: (now) => settle(now, now),
    submit: (event) => {
      event?.preventDefault()
      if (!saving.isPending) saving.mutate()
    },
    forget,
  }
}

/** Drafts are plain data with a fixed order of members, so their JSON can be compared. */
const isSame = (left: object, right: object) => JSON.stringify(left) === JSON.stringify(right)

/** A removal that needs confirmation: the first call only arms it. */
export function useRemoval(remove: () => Promise<unknown>, onRemoved: () => unknown) {
  const [isAsked, setAsked] = useState(false)
  const removing = useMutation({ mutationFn: remove, onSuccess: () => onRemoved() })
  return {
    isAsked,
    problems: removing.error === null ? [] : problemBeside(problemOf(removing.error), []),
    press: () => (isAsked ? removing.mutate() : setAsked(true)),
  }
}
