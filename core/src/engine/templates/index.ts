export {
  MAX_TEMPLATE_LENGTH,
  parseTemplate,
  type RenderOptions,
  renderInSteps,
  renderTemplate,
  type Template,
  type TemplateProblem,
} from './template.ts'
