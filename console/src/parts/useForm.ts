import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type ProblemWords, problemAt, problemBeside, problemOf } from '../words/problem.ts'
import { usePersisted } from './usePersisted.ts'

interface Options<Draft, Saved> {
  /** The name that the draft is kept under in this tab; without one it is gone with the form. */
  readonly keptAs?: string
  readonly begin: () => Draft
  readonly save: (draft: Draft) => Promise<Saved>
  /** After the API took it. The draft is forgotten only by `forget`. */
  readonly onSaved?: (saved: Saved) => unknown
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
  /** Saves; one save at a time. */
  readonly submit: (event?: FormEvent) => void
  /** Lets go of what is kept of the draft: it was saved, or given up. */
  readonly forget: () => void
}

/** What every form does: keeps what is typed through refusals and reloads, saves it once, and shows what was refused at its place. */
export function useForm<Draft extends object, Saved>({
  keptAs,
  begin,
  save,
  onSaved,
}: Options<Draft, Saved>): Form<Draft, Saved> {
  const [kept, setKept, forget] = usePersisted(keptAs, begin)
  const saving = useMutation({
    mutationFn: () => save(kept),
    onSuccess: (saved) => onSaved?.(saved),
  })
  const problem = saving.error === null ? null : problemOf(saving.error)
  return {
    draft: kept,
    change: (members) => setKept((before) => ({ ...before, ...members })),
    isSaving: saving.isPending,
    saved: saving.data,
    problem,
    at: (member) => problemAt(problem, member),
    beside: (members) => problemBeside(problem, members),
    submit: (event) => {
      event?.preventDefault()
      if (!saving.isPending) saving.mutate()
    },
    forget,
  }
}

/** A removal that is asked for twice: the first call only arms it. */
export function useRemoval(remove: () => Promise<unknown>, onRemoved: () => unknown) {
  const [isAsked, setAsked] = useState(false)
  const removing = useMutation({ mutationFn: remove, onSuccess: () => onRemoved() })
  return {
    isAsked,
    error: removing.error,
    press: () => (isAsked ? removing.mutate() : setAsked(true)),
  }
}
