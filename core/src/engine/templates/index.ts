export { type RenderOptions, renderInSteps, renderTemplate } from './render.ts'
export { MAX_TEMPLATE_LENGTH, parseTemplate, type Template, type TemplateProblem } from './template.ts'
