// What every session needs, and what its agent did or said last: a list, as on a phone so on a desk.

import { acts } from './acts.js';
import { get } from './api.js';
import { h, replace, sessionLink } from './dom.js';
import { ago, cut, folder, moment, number, plural, words } from './format.js';
import { FLAGS, GROUPS } from './signs.js';

const AGENTS = { claude: 'Claude Code', gemini: 'Gemini CLI', codex: 'Codex CLI' };

const TITLE_MAX = 120;
// Sessions of the first screen.
const FIRST = 24;
// Sessions that are laid out together, once one of them comes near the screen.
const TOGETHER = 100;

const rowOf = (session) => 'li[data-session="' + CSS.escape(session) + '"]';
// Equal folders of two machines are different projects, and clones of one repository are one.
const projectOf = (row) => (row.machine ? row.remote ?? row.machine + ':' + row.project : row.project);
const GROUPINGS = {
  need: ['need', (row) => row.need],
  machine: ['machine', (row) => row.machine ?? ''],
  project: ['project', projectOf],
};
const newest = (a, b) => (a.last_at < b.last_at ? 1 : a.last_at > b.last_at ? -1 : 0);

export async function show(root) {
  const rows = new Map();
  // What is shown of each row: it stays, with its height and what is typed there, until the row changes.
  const cards = new Map();
  // The newest fill the first screen; the others come after it is painted.
  let seen = await get('/api/now?first=' + FIRST);
  // The daemon's clock and this one may differ.
  let ahead = Date.now() - Date.parse(seen.at);
  let all = false;
  const summary = h('p', { class: 'summary', role: 'status' });
  const place = h('div');
  const box = h('input', { type: 'search', placeholder: 'title, project, branch, agent', 'aria-label': 'Only sessions with these words', oninput: () => search() });
  const agent = h('select', { 'aria-label': 'Agent', onchange: () => search() }, h('option', { value: '' }, 'all agents'),
    Object.entries(AGENTS).map(([word, name]) => h('option', { value: word }, name)));
  const machine = h('select', { 'aria-label': 'Machine', onchange: () => search() }, h('option', { value: '' }, 'all machines'));
  const grouping = h('select', { onchange: () => search() }, Object.entries(GROUPINGS).map(([word, [name]]) => h('option', { value: word }, name)));
  const fleet = h('span', { class: 'tools', hidden: true }, machine, h('label', null, 'Grouped by ', grouping));
  replace(root, h('h1', null, 'Now'), summary, h('div', { class: 'tools' }, box, agent, fleet), place);

  const card = (row) => {
    if (cards.get(row.session)?.row !== row) cards.set(row.session, { row, card: line(row, seen.mute_for) });
    return cards.get(row.session).card;
  };
  const groupOf = (row) => GROUPINGS[grouping.value][1](row);
  const wanted = (row) => (!agent.value || row.agent === agent.value)
    && (!machine.value || row.machine === machine.value)
    && box.value.toLowerCase().split(/\s+/).every((word) => said(row).includes(word));
  const narrowed = () => Boolean(box.value.trim() || agent.value || machine.value);
  const shown = () => [...rows.values()].filter(wanted);

  // What is looked for may be among those that are not there yet.
  async function search() {
    if (narrowed() && seen.sessions > rows.size && !all) await showAll();
    else draw();
    tick();
  }

  // What is read stays where it is, whatever changes above it; what changes itself may go elsewhere.
  function stay(change, changed = []) {
    const top = (card) => card.getBoundingClientRect().top;
    const moves = new Set(changed.map((row) => row.session));
    const read = scrollY > 0 && [...place.querySelectorAll('.card')].find((card) => top(card) >= 0 && !moves.has(card.dataset.session));
    const was = read && top(read);
    change();
    const now = read && place.querySelector(rowOf(read.dataset.session));
    if (now) scrollBy({ top: top(now) - was, behavior: 'instant' });
  }

  function take(answer) {
    const known = seen.sessions;
    seen = { ...seen, sessions: answer.sessions ?? seen.sessions };
    ahead = Date.now() - Date.parse(answer.at);
    // What only comes to the top of a group needs no new list.
    const changed = answer.rows.filter((row) => JSON.stringify(row) !== JSON.stringify(rows.get(row.session)));
    const places = changed.map(goOn);
    for (const row of changed) rows.set(row.session, row);
    offerMachines();
    if (!places.every(Boolean) || narrowed() || !rows.size || (known !== seen.sessions && !all)) stay(draw, changed);
    else stay(() => places.reverse().forEach((put) => put()), changed);
    count();
  }

  // Offers the machines of the listed sessions, and keeps the choice.
  function offerMachines() {
    const known = [...new Set([...rows.values()].map((row) => row.machine).filter(Boolean))].sort();
    fleet.hidden = !known.length;
    if (known.length === machine.options.length - 1) return;
    const chosen = machine.value;
    replace(machine, h('option', { value: '' }, 'all machines'), known.map((name) => h('option', { value: name }, name)));
    machine.value = chosen;
  }

  // Groups by need in their order; by machine or project in that of their names.
  function groups(list) {
    if (grouping.value === 'need') return GROUPS;
    return [...new Set(list.map(groupOf))].sort().map((name) => [name, name || '–']);
  }

  // Returns what puts a row first in its group and takes away its old one; none where the group is not there, or has newer ones.
  function goOn(row) {
    const list = place.querySelector('[data-group="' + CSS.escape(groupOf(row)) + '"] .cards');
    const first = rows.get(list?.firstElementChild?.dataset.session);
    if (!first || first.last_at > row.last_at) return null;
    return () => {
      const old = place.querySelector(rowOf(row.session));
      const from = old?.closest('section');
      const focused = old?.contains(document.activeElement);
      old?.remove();
      list.prepend(card(row));
      if (from?.querySelector('.card')) recount(from);
      else from?.remove();
      recount(list.closest('section'));
      if (focused) list.querySelector('a').focus({ preventScroll: true });
    };
  }

  function draw() {
    const list = shown();
    const focused = document.activeElement?.closest?.('[data-session]')?.dataset.session;
    const more = seen.sessions > rows.size && !all && h('p', null, h('button', { type: 'button', onclick: showAll },
      'Show all ' + number(seen.sessions) + ' sessions'), ' (these are the ' + rows.size + ' with the newest events)');
    replace(place, list.length ? groups(list).map(([group, title]) => section(group, title, list.filter((row) => groupOf(row) === group), card))
      : rows.size ? h('p', { class: 'empty' }, 'No session is like that.')
        : h('p', { class: 'empty' }, 'No agent has called a hook yet. ',
          h('code', null, 'checkpointd init'), ' adds the hooks, which agents load as they start; ', h('code', null, 'checkpointd doctor'), ' checks them.'), more);
    if (focused) place.querySelector(rowOf(focused) + ' a')?.focus({ preventScroll: true });
  }

  function count() {
    const count = (need) => [...rows.values()].filter((row) => row.need === need).length;
    const calls = count('you') + count('open');
    const text = count('you') + (count('you') === 1 ? ' needs you · ' : ' need you · ') + count('open') + ' left open · ' + count('running')
      + ' running · ' + count('finished') + ' finished · ' + plural(seen.sessions, 'session') + ' known';
    // Whoever listens to the page hears of it only when it has changed.
    if (summary.textContent !== text) summary.textContent = text;
    if (place.isConnected) document.title = (calls ? '(' + calls + ') ' : '') + 'Now – checkpointd';
    tick();
  }

  async function showAll() {
    all = true;
    take(await get('/api/now?all=true'));
  }

  // Only figures that have grown are touched: each is a new layout.
  function tick() {
    const now = Date.now() - ahead;
    for (const element of place.querySelectorAll('[data-heard]')) {
      const text = ago(now - Number(element.dataset.heard));
      if (element.textContent !== text) element.textContent = text;
    }
  }

  take(seen);
  const rest = async () => {
    if (!document.hidden) await new Promise((painted) => { requestAnimationFrame(() => setTimeout(painted)); });
    take(await get('/api/now'));
  };
  const timer = setInterval(tick, 1000);
  return {
    whole: rest().catch(() => {}),
    async changed(message) {
      take(message.everything ? await get('/api/now' + (all ? '?all=true' : '')) : message);
    },
    leave: () => clearInterval(timer),
  };
}

function section(group, title, rows, card) {
  if (!rows.length) return null;
  const known = GROUPS.some(([name]) => name === group);
  const cards = rows.sort(newest).map(card);
  const lists = Array.from({ length: Math.ceil(cards.length / TOGETHER) }, (_, at) => cards.slice(at * TOGETHER, (at + 1) * TOGETHER));
  return h('section', { class: known ? 'group ' + group : 'group', 'data-group': group }, h('h2', null, title, ' ', h('span', { class: 'count' }, rows.length)),
    lists.map((cards) => {
      const list = h('ul', { class: 'cards' }, cards);
      // Up to a thousand cards are laid out at once: what lies outside the window then has its true place.
      if (lists.length > 10) Object.assign(list.style, { contentVisibility: 'auto', containIntrinsicHeight: 'auto ' + 5.4 * cards.length + 'em' });
      return list;
    }));
}

function recount(section) {
  section.querySelector('.count').textContent = section.querySelectorAll('.card').length;
}

// What the search box looks through.
const said = (row) => [row.title, row.machine, row.remote, row.project, row.branch, row.pane, row.agent, AGENTS[row.agent], row.session, row.native_session,
  row.need, words(row.standing), words(row.why), row.asked, row.said, ...row.flags, ...row.open_words].filter(Boolean).join(' ').toLowerCase();

// A session: what is open of it, what it is about, what its agent did or said last, and where it is.
function line(row, periods) {
  const works = row.need === 'you' || row.need === 'running';
  const why = row.need === 'you' && row.why && row.why !== 'agent_finished' ? words(row.why) : null;
  const name = cut(row.title, TITLE_MAX) || '(' + folder(row.project) + ')';
  return h('li', { 'data-session': row.session, class: 'card ' + row.need },
    h('p', { class: 'about' }, sessionLink(row.session, name)),
    row.asked && h('p', { class: 'asked' }, row.asked),
    row.open_words.map((text, index) => h('p', { class: 'open', title: row.open[index].files.join('\n') }, text)),
    why && h('p', { class: 'why' }, why),
    (works && row.last_tool && h('p', { class: 'last' }, tool(row.last_tool))) || (row.said && h('p', { class: 'last' }, h('q', null, row.said))),
    h('p', { class: 'where' }, parts(row).map(([name, text, title]) => h('span', { class: name, title }, text)),
      h('time', { 'data-heard': Date.parse(row.last_at), datetime: row.last_at, title: moment(row.last_at) })),
    row.need === 'nothing' ? null : acts(row, name, periods));
}

const tool = ({ tool, about, failed, finished }) => [tool, ' ', h('code', null, about), failed ? h('span', { class: 'failed' }, ' failed') : finished ? null : ' …'];

// Where a session is: its class, its words, and what tells more.
const parts = (row) => [
  ['machine', row.machine, 'machine'],
  ['project', folder(row.machine && row.remote ? row.remote : row.project), projectOf(row)],
  ['branch', row.branch, 'branch'],
  ['agent ' + row.agent, AGENTS[row.agent] ?? row.agent, row.session],
  ['pane', row.pane, 'tmux pane'],
  ...row.flags.map((flag) => ['flag', flag, FLAGS[flag]]),
].filter(([, text]) => text);
