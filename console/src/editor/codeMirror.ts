import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  type CompletionSource,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, invertedEffects } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
  syntaxTree,
} from '@codemirror/language'
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { EditorState, StateEffect, StateField } from '@codemirror/state'
import {
  Decoration,
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import type { SyntaxNode } from '@lezer/common'
import { tags } from '@lezer/highlight'
import { hasCrlf } from '../words/headers.ts'
import { membersOf, type Schema, schemasAt, valuesOf } from './jsonSchema.ts'
import { nameOf, pathTo, rangeOfPointer } from './pointers.ts'

/**
 * Completes names and values from a JSON Schema, and paths (`body.…`) from captures.
 *
 * @param about called at each completion, since both may load after the editor
 */
function jsonCompletion(
  about: () => { schema: Schema | undefined; paths: readonly string[] },
): CompletionSource {
  return (context) => {
    const { schema, paths } = about()
    const word = context.matchBefore(/"[^"\n]*/) ?? context.matchBefore(/[\w.-]*/)
    if (word === null || (word.from === word.to && !context.explicit)) return null
    const node = syntaxTree(context.state).resolveInner(context.pos, -1)
    const place = placeOf(node)
    if (place === undefined) return null
    const result = (options: CompletionResult['options']): CompletionResult => ({
      from: word.from,
      options,
      validFor: /^"?[^"\n]*$/,
    })
    if (place.isName) return result(nameOptions(context, place.holder, schema))
    const values = schema === undefined ? [] : valuesOf(schemasAt(schema, pathTo(context.state, node)))
    const isPath = word.text.startsWith('"b') || word.text.startsWith('"h') || word.text.startsWith('"q')
    return result([
      ...values.map((value) => ({ label: JSON.stringify(value), type: 'enum' })),
      ...(isPath || context.explicit
        ? paths.map((path) => ({ label: JSON.stringify(path), type: 'variable' }))
        : []),
    ])
  }
}

/** The object around the cursor, and whether a name is expected there. */
function placeOf(node: SyntaxNode): { holder: SyntaxNode; isName: boolean } | undefined {
  if (node.name === 'PropertyName' && node.parent?.parent != null)
    return { holder: node.parent.parent, isName: true }
  if (node.name === 'Object' || node.name === '{')
    return { holder: node.name === '{' && node.parent !== null ? node.parent : node, isName: true }
  if (node.parent?.name === 'Object' && node.name === '⚠') return { holder: node.parent, isName: true }
  return { holder: node, isName: false }
}

function nameOptions({ state }: CompletionContext, holder: SyntaxNode, schema: Schema | undefined) {
  if (schema === undefined) return []
  const taken = new Set(
    holder.getChildren('Property').flatMap((one) => {
      const name = one.getChild('PropertyName')
      return name === null ? [] : [nameOf(state, name)]
    }),
  )
  return [...membersOf(schemasAt(schema, pathTo(state, holder)))]
    .filter(([name]) => !taken.has(name))
    .map(([name, info]) => ({
      label: JSON.stringify(name),
      apply: `${JSON.stringify(name)}: `,
      type: 'property',
      info,
    }))
}

export interface Mark {
  /** JSON Pointer into the document: `#/steps/0`. */
  readonly pointer: string
  readonly detail: string
}

/** Options of an editor. The callbacks may be replaced later. */
export interface EditorOptions {
  readonly parent: ShadowRoot
  readonly text: string
  readonly label: string
  readonly language: 'json' | 'text'
  readonly onChange: (text: string) => void
  /** ⌘S */
  readonly onSave: () => void
  /** ⌘↵ */
  readonly onRun: () => void
  readonly completes: () => { schema: Schema | undefined; paths: readonly string[] }
}

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--code-name)' },
  { tag: tags.string, color: 'var(--code-text)' },
  { tag: tags.number, color: 'var(--code-number)' },
  { tag: [tags.bool, tags.null], color: 'var(--code-word)' },
])

const look = EditorView.theme({
  '&': {
    font: '12px var(--mono)',
    color: 'var(--text)',
    backgroundColor: 'var(--surface)',
    maxHeight: '52vh',
  },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px', overflow: 'auto' },
  '.cm-content': { minHeight: '118px', caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--text-3)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in oklab, var(--accent) 6%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--accent-soft)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in oklab, var(--accent) 26%, transparent)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--line-strong)',
    color: 'var(--text)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent-soft)',
    color: 'var(--text)',
  },
  '.cm-return::after': { content: '"␍"', color: 'var(--bad)' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--sunk)', border: 'none', color: 'var(--text-3)' },
})

const RETURN = Decoration.mark({ class: 'cm-return' })

/** Shows each CR that ends no line. */
const returns = EditorView.decorations.of(({ state, visibleRanges }) =>
  Decoration.set(
    visibleRanges.flatMap(({ from, to }) =>
      [...state.sliceDoc(from, to).matchAll(/\r/g)].map(({ index }) =>
        RETURN.range(from + index, from + index + 1),
      ),
    ),
  ),
)

/** Sets whether the breaks of the text are all CR LF. */
const setCrlf = StateEffect.define<boolean>()

/** Whether the breaks of the text are all CR LF. Undo and redo bring it back with the text. */
const crlf: StateField<boolean> = StateField.define({
  create: () => false,
  update: (before, { effects }) => effects.find((one) => one.is(setCrlf))?.value ?? before,
  provide: () =>
    invertedEffects.of(({ effects, startState }) =>
      effects.some((one) => one.is(setCrlf)) ? [setCrlf.of(startState.field(crlf))] : [],
    ),
})

/** Opens an editor in a shadow root. There it may add its styles despite the page's content security policy. */
export function openEditor(options: EditorOptions) {
  const { parent, text, label, language, onChange, onRun, onSave, completes } = options
  const command = (run: () => void) => () => {
    run()
    return true
  }
  // The lines end in LF here. A text whose breaks are all CR LF is given back with them; any other CR is a character
  // of its line, and seen, so that nothing changes that was not typed.
  const lines = (of: string) => (hasCrlf(of) ? of.replaceAll('\r\n', '\n') : of)
  const textOf = (state: EditorState) =>
    state.doc.sliceString(0, state.doc.length, state.field(crlf) ? '\r\n' : '\n')
  const view = new EditorView({
    root: parent,
    parent,
    state: EditorState.create({
      doc: lines(text),
      extensions: [
        // First, because key maps are tried in order.
        keymap.of([
          { key: 'Mod-s', run: command(onSave), preventDefault: true },
          { key: 'Mod-Enter', run: command(onRun), preventDefault: true },
        ]),
        crlf.init(() => hasCrlf(text)),
        EditorState.lineSeparator.of('\n'),
        EditorView.clipboardInputFilter.of((pasted) => pasted.replace(/\r\n?/g, '\n')),
        returns,
        lineNumbers(),
        foldGutter(),
        lintGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        EditorView.lineWrapping,
        syntaxHighlighting(colours),
        look,
        // Tab is not bound: it moves the focus.
        keymap.of([
          ...closeBracketsKeymap,
          ...defaultKeymap,
          ...historyKeymap,
          ...foldKeymap,
          ...completionKeymap,
          ...lintKeymap,
        ]),
        EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(textOf(update.state))
        }),
        ...(language === 'json' ? [json(), autocompletion({ override: [jsonCompletion(completes)] })] : []),
      ],
    }),
  })
  return {
    setText(next: string) {
      if (textOf(view.state) === next) return
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: lines(next) },
        effects: setCrlf.of(hasCrlf(next)),
      })
    },
    setMarks(marks: readonly Mark[]) {
      const diagnostics: Diagnostic[] = marks.map(({ pointer, detail }) => ({
        ...rangeOfPointer(view.state, pointer),
        severity: 'error',
        message: detail,
      }))
      view.dispatch(setDiagnostics(view.state, diagnostics))
    },
    destroy: () => view.destroy(),
  }
}
