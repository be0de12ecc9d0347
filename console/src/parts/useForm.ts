import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type ProblemWords, problemAt, problemBeside, problemOf } from '../words/problem.ts'
import { usePersisted } from './usePersisted.ts'

interface Options<Draft, Saved> {
  /** The name that the draft is kept under in this tab; without one it is gone with the form. */
  readonly keptAs?: string
  readonly begin: () => Draft
  /** What is stored now, as a draft: where somebody else changed it meanwhile, nothing is overwritten unseen. */
  readonly stored?: (() => Promise<Draft | undefined>) | undefined
  readonly save: (draft: Draft) => Promise<Saved>
  /** After the API took it. The draft is forgotten only by `forget`. */
  readonly onSaved?: (saved: Saved) => unknown
}

/** What somebody else saved since the form was opened, beside what is typed. */
export interface Conflict {
  readonly theirs: object
  readonly mine: object
  /** Gives up what is typed. */
  readonly takeTheirs: () => void
  /** What is typed will be saved over it. */
  readonly keepMine: () => void
}

/** A form: what is typed in it, and what the API says about that. */
export interface Form<Draft, Saved> {
  readonly draft: Draft
  /** Changes some members of the draft. */
  readonly change: (members: Partial<Draft>) => void
  readonly isSaving: boolean
  /** What the last save answered. */
  readonly saved: Saved | undefined
  readonly problem: ProblemWords | null
  /** What is wrong with a member, and all below it; empty when it is right. */
  readonly at: (member: string) => string
  /** What is wrong besides these members. */
  readonly beside: (members: readonly string[]) => readonly string[]
  readonly conflict: Conflict | null
  /** Begins anew with what is stored. */
  readonly reset: (stored: Draft) => void
  /** Saves; one save at a time. */
  readonly submit: (event?: FormEvent) => void
  /** Lets go of what is kept of the draft: it was saved, or given up. */
  readonly forget: () => void
}

/** What every form does: keeps what is typed through refusals and reloads, saves it once, and shows what was refused at its place. */
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

/** Drafts are plain data, made by the same function. */
const isSame = (left: object, right: object) => JSON.stringify(left) === JSON.stringify(right)

/** A removal that is asked for twice: the first call only arms it. */
export function useRemoval(remove: () => Promise<unknown>, onRemoved: () => unknown) {
  const [isAsked, setAsked] = useState(false)
  const removing = useMutation({ mutationFn: remove, onSuccess: () => onRemoved() })
  return {
    isAsked,
    problems: removing.error === null ? [] : problemBeside(problemOf(removing.error), []),
    press: () => (isAsked ? removing.mutate() : setAsked(true)),
  }
}
