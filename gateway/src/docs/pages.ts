/// <reference path="./assets.d.ts" />
import agents from '../../../docs/agents.md' with { type: 'text' }
import alerts from '../../../docs/alerts.md' with { type: 'text' }
import answers from '../../../docs/answers.md' with { type: 'text' }
import api from '../../../docs/api.md' with { type: 'text' }
import clients from '../../../docs/clients.md' with { type: 'text' }
import concepts from '../../../docs/concepts.md' with { type: 'text' }
import console from '../../../docs/console.md' with { type: 'text' }
import delivery from '../../../docs/delivery.md' with { type: 'text' }
import errors from '../../../docs/errors.md' with { type: 'text' }
import install from '../../../docs/install.md' with { type: 'text' }
import keys from '../../../docs/keys.md' with { type: 'text' }
import migrating from '../../../docs/migrating.md' with { type: 'text' }
import operations from '../../../docs/operations.md' with { type: 'text' }
import plans from '../../../docs/plans.md' with { type: 'text' }
import privacy from '../../../docs/privacy.md' with { type: 'text' }
import providers from '../../../docs/providers.md' with { type: 'text' }
import quickstartCi from '../../../docs/quickstarts/ci.md' with { type: 'text' }
import quickstartNginx from '../../../docs/quickstarts/nginx-and-managed-postgres.md' with { type: 'text' }
import quickstartVm from '../../../docs/quickstarts/one-vm.md' with { type: 'text' }
import quickstartRehearse from '../../../docs/quickstarts/rehearse.md' with { type: 'text' }
import quickstartStripe from '../../../docs/quickstarts/stripe-to-three-services.md' with { type: 'text' }
import reconcile from '../../../docs/reconcile.md' with { type: 'text' }
import rehearse from '../../../docs/rehearse.md' with { type: 'text' }
import relay from '../../../docs/relay.md' with { type: 'text' }
import routes from '../../../docs/routes.md' with { type: 'text' }
import rules from '../../../docs/rules.md' with { type: 'text' }
import rulesExamples from '../../../docs/rules-examples.md' with { type: 'text' }
import rulesFunctions from '../../../docs/rules-functions.md' with { type: 'text' }
import runbook from '../../../docs/runbook.md' with { type: 'text' }
import scale from '../../../docs/scale.md' with { type: 'text' }
import security from '../../../docs/security.md' with { type: 'text' }
import sharing from '../../../docs/sharing.md' with { type: 'text' }
import terminal from '../../../docs/terminal.md' with { type: 'text' }
import troubleshooting from '../../../docs/troubleshooting.md' with { type: 'text' }

/** A page of the documentation, as bundled with the program. */
interface Page {
  /** Its file in `docs/`, and its address below `/docs/`. */
  readonly file: string
  readonly about: string
  readonly text: string
}

function page(file: string, text: string, about: string): Page {
  return { file, text, about }
}

/** Every page, in reading order. */
const PAGES: readonly Page[] = [
  page('install.md', install, 'from a clone, and after the first release: npm, Homebrew, container'),
  page('concepts.md', concepts, 'every feature in words, with a command that works'),
  page(
    'migrating.md',
    migrating,
    'from webhook.site, ngrok, smee and the Stripe CLI: what you do there, and how here',
  ),
  page(
    'troubleshooting.md',
    troubleshooting,
    'my webhook did not arrive: from the sender to your code, step by step',
  ),
  page('answers.md', answers, 'scripted answers to senders, and the answer of your own application'),
  page('runbook.md', runbook, 'each alert of the shipped rules: what it means, what to look at, what to do'),
  page('privacy.md', privacy, 'what is stored where, redaction before storing, and forgetting a person'),
  page('sharing.md', sharing, 'a link that shows one request to readers without a key'),
  page(
    'api.md',
    api,
    'using the REST API well: keys, budgets, lists, following, awaiting, export and import, errors',
  ),
  page('clients.md', clients, 'typed clients, tests that wait for webhooks, CI'),
  page('routes.md', routes, 'every operation of the API'),
  page('errors.md', errors, 'every error code, and what to do about it'),
  page('rules.md', rules, 'conditions and transformation rules'),
  page('rules-examples.md', rulesExamples, 'ten rules, worked through'),
  page('rules-functions.md', rulesFunctions, 'the functions that rules compute with'),
  page('delivery.md', delivery, 'pace, order, retries, credentials, TLS and signatures of a forward'),
  page('providers.md', providers, 'the known senders, their signatures and handshakes'),
  page('rehearse.md', rehearse, 'replays of many requests, with faults and comparison'),
  page('reconcile.md', reconcile, "bringing the events that never came, from their sender's list"),
  page('alerts.md', alerts, 'alert channels, events and incidents'),
  page('agents.md', agents, 'tools and events for agents, by the Model Context Protocol, and their sign-in'),
  page('terminal.md', terminal, 'the command line for developers'),
  page('relay.md', relay, 'a public URL for a program on your machine; running a relay for a team'),
  page('console.md', console, 'the live page in a browser'),
  page('keys.md', keys, 'scopes, expiry and rotation of keys; the audit log; secrets at rest'),
  page('plans.md', plans, 'every number of every plan, and how limits act'),
  page('security.md', security, 'what Creel guards against, and how'),
  page('scale.md', scale, 'what limits how much, and what to do past one machine'),
  page('operations.md', operations, 'configuration, deployment, backups, logs and metrics'),
  page('quickstarts/ci.md', quickstartCi, 'wait for a webhook in GitHub Actions or GitLab CI'),
  page(
    'quickstarts/stripe-to-three-services.md',
    quickstartStripe,
    'one endpoint, three services, each with its own condition and retries',
  ),
  page('quickstarts/rehearse.md', quickstartRehearse, 'last week against the next release, in CI'),
  page('quickstarts/one-vm.md', quickstartVm, 'an operator on one Linux machine'),
  page(
    'quickstarts/nginx-and-managed-postgres.md',
    quickstartNginx,
    'several processes behind nginx, the database at a provider',
  ),
]

/** Former pages, which are sections of others. */
const MOVED: Readonly<Record<string, string>> = {
  'destinations.md': 'delivery.md',
  'logs.md': 'operations.md',
  'metrics.md': 'operations.md',
  'oauth.md': 'agents.md',
  'tour.md': 'concepts.md',
}

/** The title of a page: its first heading. */
const titleOf = ({ file, text }: Page) => /^# (.+)$/m.exec(text)?.[1] ?? file

/**
 * `/llms.txt`: an overview for language models, after llmstxt.org.
 *
 * @param baseUrl the service's own address, for links
 */
function llmsText(baseUrl: string): string {
  const links = PAGES.map((page) => `- [${titleOf(page)}](${baseUrl}/docs/${page.file}): ${page.about}`)
  return `# Creel

> Creel captures webhooks: capture URLs store whatever senders send, byte for byte; an API lists, searches, awaits, verifies, transforms, forwards and
> replays it; watchdogs alarm when an expected webhook does not come.

Every call needs an API key, \`Authorization: Bearer …\`; capture URLs (\`/hook/{endpointId}\`) need none. Errors are \`application/problem+json\`: branch on
\`code\`. An agent can use the tools at \`${baseUrl}/mcp\`.

## Documentation

${links.join('\n')}

## Machine-readable

- [OpenAPI 3.1](${baseUrl}/openapi/v1.json): every route, member, bound and error
- [JSON Schema of rules](${baseUrl}/api/v1/transformations/schema): the grammar of transformation rules and conditions
`
}

const MARKDOWN = 'text/markdown; charset=utf-8'

/** The routes of the documentation as text: `/llms.txt`, its twin of `/docs`, and each page. */
export function pageRoutes(baseUrl: string): Readonly<Record<string, () => Response>> {
  const answer = (text: string, type: string) => () =>
    new Response(text, {
      headers: {
        'Content-Type': type,
        'X-Content-Type-Options': 'nosniff',
        'Cache-Control': 'public, max-age=3600',
      },
    })
  const index = llmsText(baseUrl)
  return {
    '/llms.txt': answer(index, 'text/plain; charset=utf-8'),
    '/docs.md': answer(index, MARKDOWN),
    ...Object.fromEntries(PAGES.map(({ file, text }) => [`/docs/${file}`, answer(text, MARKDOWN)])),
    ...Object.fromEntries(
      Object.entries(MOVED).map(([from, to]) => [
        `/docs/${from}`,
        () => new Response(null, { status: 301, headers: { Location: `${baseUrl}/docs/${to}` } }),
      ]),
    ),
  }
}
