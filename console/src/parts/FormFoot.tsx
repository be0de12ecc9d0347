import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { changeKept } from '../usePersisted.ts'
import { problemBeside, problemOf } from '../words/problem.ts'
import { Button, ConfirmButton } from './Button.tsx'
import { CopyButton } from './CopyButton.tsx'
import { Dialog } from './Dialog.tsx'
import { Card } from './Page.tsx'
import { Problems } from './Problem.tsx'
import { Table } from './Table.tsx'
import { type Conflict, changesOf, type Form } from './useForm.ts'

interface Props {
  readonly form: Pick<Form<object, unknown>, 'beside' | 'close' | 'conflict' | 'isSaving' | 'removal'>
  readonly submit: string
  readonly busy?: string
  readonly look?: 'primary' | 'danger'
  readonly isOff?: boolean
  /** Label of the button that gives up the draft. */
  readonly cancel?: string
  /** Whether there is nothing to give up. */
  readonly isSettled?: boolean
  readonly onCancel?: () => void
  /** Label of the delete button's confirmation. */
  readonly removalWords?: string
}

/** The end of a form: problems of the whole form; buttons to save, cancel, delete. */
export function FormFoot({
  form,
  submit,
  busy = 'Saving…',
  look = 'primary',
  isOff = false,
  cancel = 'Cancel',
  isSettled = false,
  onCancel = form.close,
  removalWords = 'Confirm: delete',
}: Props) {
  const { removal } = form
  const refusal = removal === undefined || removal.error === null ? null : problemOf(removal.error)
  const wrong = [...form.beside(), ...problemBeside(refusal, [])]
  return (
    <>
      {form.conflict !== null && <ConflictNote conflict={form.conflict} />}
      <Problems of={wrong} />
      <div className="form-foot">
        <Button type="submit" look={look} disabled={form.isSaving || isOff || form.conflict !== null}>
          {form.isSaving ? busy : submit}
        </Button>
        <Button disabled={isSettled} onClick={onCancel}>
          {cancel}
        </Button>
        <span className="grow" />
        {removal !== undefined && (
          <ConfirmButton
            confirm={removalWords}
            onConfirm={() => removal.mutate()}
            disabled={form.isSaving || removal.isPending}
          />
        )}
      </div>
    </>
  )
}

interface DialogProps extends Omit<Props, 'form' | 'onCancel'> {
  readonly title: string
  readonly form: Props['form'] & Pick<Form<object, unknown>, 'submit'>
  /** Whether it shows an answer that cannot be read again: then it stays while it is saved. */
  readonly showsOnce?: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A form in a dialog. */
export function FormDialog({ title, form, showsOnce = false, onClose, children, ...foot }: DialogProps) {
  const stays = showsOnce && form.isSaving
  return (
    <Dialog title={title} onClose={onClose} isClosable={!stays}>
      <form className="form" onSubmit={form.submit}>
        {children}
        <FormFoot form={form} onCancel={onClose} isSettled={stays} {...foot} />
      </form>
    </Dialog>
  )
}

/** Shown when another user has saved meanwhile: their version, the draft, and a choice. */
export function ConflictNote({ conflict }: { conflict: Conflict }) {
  const { keepMine, mine, takeTheirs, theirs } = conflict
  const names = [...new Set([...Object.keys(theirs), ...Object.keys(mine)])].filter(
    (name) => shown(theirs, name) !== shown(mine, name),
  )
  return (
    <section className="problem conflict" role="alert" aria-label="Changed elsewhere">
      <p>
        <b>This was changed elsewhere while you edited it.</b> Nothing was overwritten.
      </p>
      <Table look="changes" heads={['Setting', 'Saved value', 'Your value']}>
        {names.map((name) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              <pre>{shown(theirs, name)}</pre>
            </td>
            <td>
              <pre>{shown(mine, name)}</pre>
            </td>
          </tr>
        ))}
      </Table>
      <p className="acts">
        <Button onClick={takeTheirs}>Use saved values</Button>
        <Button onClick={keepMine}>Keep my values</Button>
      </p>
    </section>
  )
}

function shown(draft: object, name: string): string {
  const value: unknown = Reflect.get(draft, name)
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')
}

interface NoLongerThereProps {
  readonly what: string
  /** Id in the address; undefined without. */
  readonly id: string | undefined
  readonly of: Pick<UseQueryResult, 'isFetching'>
  readonly items: readonly { readonly id: string }[]
  /** Name of the draft of its form. */
  readonly keptAs: string
}

/** Says that what the address names is not in its list, once that has been read again, and shows what was typed in it. */
export function NoLongerThere({ what, id, of, items, keptAs }: NoLongerThereProps) {
  if (id === undefined || of.isFetching || items.some((one) => one.id === id)) return null
  return (
    <>
      <p className="banner" role="status">
        The {what} that was open is no longer there.
      </p>
      <KeptDraft key={keptAs} keptAs={keptAs} />
    </>
  )
}

const EMPTY = { draft: {}, began: {} }

/** The changes in a kept draft, each behind its name unless it is the only one; empty if there are none. */
function keptText(keptAs: string): string {
  const values: (readonly [name: string, value: string])[] = []
  changeKept(keptAs, EMPTY, (kept) => {
    for (const [name] of changesOf(kept.draft, kept.began)) values.push([name, shown(kept.draft, name)])
    return kept
  })
  return values.map(([name, value]) => (values.length === 1 ? value : `${name}: ${value}`)).join('\n')
}

function KeptDraft({ keptAs }: { readonly keptAs: string }) {
  const [text, setText] = useState(() => keptText(keptAs))
  if (text === '') return null
  const discard = () => {
    changeKept(keptAs, EMPTY, () => undefined)
    setText('')
  }
  return (
    <Card
      title="What was typed and not saved"
      acts={
        <>
          <CopyButton className="button" label="Copy what was typed" text={() => text}>
            Copy
          </CopyButton>
          <Button onClick={discard}>Discard</Button>
        </>
      }
    >
      <p className="sees">{text}</p>
    </Card>
  )
}
