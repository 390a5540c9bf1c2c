// How every session stands, what waits for a person first.

import { get } from './api.js';
import { h, replace, sessionLink } from './dom.js';
import { ago, cut, duration, folder, moment, number, plural, words } from './format.js';
import { FLAGS, GROUPS } from './signs.js';

const HEADS = ['Open', 'Session', 'Project', 'Turn', 'Last tool', 'Flags', 'Last event'];
// At a collector sessions came from machines.
const FLEET_HEADS = ['Open', 'Session', 'Machine', 'Project', 'Turn', 'Last tool', 'Flags', 'Last event'];
const NUMBERS = ['Turn'];
const AGENTS = { claude: 'Claude Code', gemini: 'Gemini CLI', codex: 'Codex CLI' };

const rowOf = (session) => 'tr[data-session="' + CSS.escape(session) + '"]';
const standing = (row) => (row.earlier ? 'earlier' : row.standing);
// Equal folders of two machines are different projects, and clones of one repository are one.
const projectOf = (row) => (row.machine ? row.remote ?? row.machine + ':' + row.project : row.project);
const GROUPINGS = {
  state: ['state', standing],
  machine: ['machine', (row) => row.machine ?? ''],
  project: ['project', projectOf],
};
const side = (head) => (NUMBERS.includes(head) ? 'number' : null);
const newest = (a, b) => (a.last_at < b.last_at ? 1 : a.last_at > b.last_at ? -1 : 0);

export async function show(root) {
  const rows = new Map();
  let seen = await get('/api/now');
  // The daemon's clock and this one may differ.
  let ahead = Date.now() - Date.parse(seen.at);
  let all = false;
  const summary = h('p', { class: 'summary', role: 'status' });
  const place = h('div');
  const box = h('input', { type: 'search', placeholder: 'title, project, branch, agent, flag', 'aria-label': 'Only sessions with these words', oninput: () => search() });
  const agent = h('select', { 'aria-label': 'Agent', onchange: () => search() }, h('option', { value: '' }, 'all agents'),
    Object.entries(AGENTS).map(([word, name]) => h('option', { value: word }, name)));
  const state = h('select', { 'aria-label': 'State', onchange: () => search() }, h('option', { value: '' }, 'all states'),
    GROUPS.map(([word, name]) => h('option', { value: word }, name)));
  const machine = h('select', { 'aria-label': 'Machine', onchange: () => search() }, h('option', { value: '' }, 'all machines'));
  const grouping = h('select', { onchange: () => search() }, Object.entries(GROUPINGS).map(([word, [name]]) => h('option', { value: word }, name)));
  const fleet = h('span', { class: 'tools', hidden: true }, machine, h('label', null, 'Grouped by ', grouping));
  replace(root, h('h1', null, 'Now'), summary, h('div', { class: 'tools' }, box, agent, state, fleet), place);

  const heads = () => (fleet.hidden ? HEADS : FLEET_HEADS);
  const groupOf = (row) => GROUPINGS[grouping.value][1](row);
  const wanted = (row) => (!agent.value || row.agent === agent.value) && (!state.value || standing(row) === state.value)
    && (!machine.value || row.machine === machine.value)
    && box.value.toLowerCase().split(/\s+/).every((word) => said(row).includes(word));
  const narrowed = () => Boolean(box.value.trim() || agent.value || state.value || machine.value);
  const shown = () => [...rows.values()].filter(wanted);

  // What is looked for may be among those that are not there yet.
  async function search() {
    if (narrowed() && seen.sessions > rows.size && !all) await showAll();
    else draw();
    tick();
  }

  function take(answer) {
    seen = { ...seen, sessions: answer.sessions ?? seen.sessions };
    ahead = Date.now() - Date.parse(answer.at);
    // What only goes on within its group needs no new table.
    const places = answer.rows.map((row) => goOn(rows.get(row.session), row));
    for (const row of answer.rows) rows.set(row.session, row);
    offerMachines();
    if (places.length && places.every(Boolean) && !narrowed()) places.reverse().forEach((put) => put());
    else draw();
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

  // Groups by state in their order; by machine or project in that of their names.
  function groups(list) {
    if (grouping.value === 'state') return GROUPS;
    return [...new Set(list.map(groupOf))].sort().map((name) => [name, name || '–']);
  }

  // Returns what puts a row in place of its old one, first in its group; none where it comes into another group.
  function goOn(was, row) {
    const old = was && standing(was) === standing(row) && groupOf(was) === groupOf(row) && place.querySelector(rowOf(row.session));
    return old && (() => {
      const focused = old.contains(document.activeElement);
      const body = old.parentElement;
      old.remove();
      body.firstChild.after(line(row, heads()));
      if (focused) body.querySelector(rowOf(row.session) + ' a').focus({ preventScroll: true });
    });
  }

  function draw() {
    const list = shown();
    const bodies = groups(list).map(([group, title]) => body(group, title, list.filter((row) => groupOf(row) === group), heads()));
    const focused = document.activeElement?.closest?.('tr')?.dataset.session;
    const columns = heads().map((text) => h('th', { scope: 'col', class: side(text) }, text));
    const more = seen.sessions > rows.size && !all && h('p', null, h('button', { type: 'button', onclick: showAll },
      'Show all ' + number(seen.sessions) + ' sessions'), ' (these are the ' + rows.size + ' with the newest events)');
    replace(place, rows.size && !shown().length ? h('p', { class: 'empty' }, 'No session is like that.') : rows.size
      ? h('table', { class: 'now' }, h('caption', { class: 'unseen' }, 'Sessions, by ' + GROUPINGS[grouping.value][0]),
        h('thead', null, h('tr', null, columns)), bodies)
      : h('p', { class: 'empty' }, 'No agent has called a hook yet. ',
        h('code', null, 'checkpointd init'), ' adds the hooks; ', h('code', null, 'checkpointd doctor'), ' checks them.'), more);
    if (focused) place.querySelector(rowOf(focused) + ' a')?.focus({ preventScroll: true });
  }

  function count() {
    const count = (group) => [...rows.values()].filter((row) => standing(row) === group).length;
    const waits = count('needs_you') + count('waiting');
    const text = count('needs_you') + (count('needs_you') === 1 ? ' needs you · ' : ' need you · ') + count('waiting') + ' finished · ' + count('running')
      + ' running · ' + plural(seen.sessions, 'session') + ' known';
    // Whoever listens to the page hears of it only when it has changed.
    if (summary.textContent !== text) summary.textContent = text;
    document.title = (waits ? '(' + waits + ') ' : '') + 'Now – checkpointd';
    tick();
  }

  async function showAll() {
    all = true;
    take(await get('/api/now?all=true'));
  }

  // Only figures that grow are touched.
  function tick() {
    const now = Date.now() - ahead;
    for (const element of place.querySelectorAll('[data-heard]')) {
      element.textContent = ago(now - Number(element.dataset.heard));
    }
  }

  take(seen);
  const timer = setInterval(tick, 1000);
  return {
    async changed(message) {
      take(message.everything ? await get('/api/now' + (all ? '?all=true' : '')) : message);
    },
    leave: () => clearInterval(timer),
  };
}

function body(group, title, rows, heads) {
  if (!rows.length) return null;
  const head = h('tr', { class: 'group' }, h('th', { scope: 'rowgroup', colspan: heads.length },
    title, ' ', h('span', { class: 'count' }, rows.length)));
  const known = GROUPS.some(([name]) => name === group);
  return h('tbody', { class: known ? group : null }, head, rows.sort(newest).map((row) => line(row, heads)));
}

// What the search box looks through.
const said = (row) => [row.title, row.machine, row.remote, row.project, row.branch, row.pane, row.agent, AGENTS[row.agent], row.session, row.native_session,
  words(row.standing), words(row.why), ...row.flags, ...row.open.map(inWords)].filter(Boolean).join(' ').toLowerCase();

function line(row, heads) {
  const tool = row.last_tool;
  const why = row.why && row.why !== 'agent_finished' && h('span', { class: 'why' }, words(row.why));
  const cells = [
    row.open.length ? row.open.map((item) => h('span', { class: 'open', title: item.files.join('\n') }, inWords(item))) : '–',
    [sessionLink(row.session, cut(row.title, 60) || '(' + folder(row.project) + ')'), ' ', h('span', { class: 'agent ' + row.agent }, (AGENTS[row.agent] ?? row.agent) + ' ' + row.session.slice(0, 8)), why],
    row.machine,
    [h('span', { title: projectOf(row) }, folder(row.machine && row.remote ? row.remote : row.project)), row.branch && h('span', { class: 'branch', title: 'branch' }, row.branch)],
    row.turn,
    tool ? [h('span', { class: tool.failed ? 'failed' : null }, tool.tool), ' ', h('span', { class: 'about', title: tool.about }, cut(tool.about, 60)),
      tool.failed ? ' failed' : tool.finished ? ' ' + duration(tool.duration_ms) : ' …'] : '–',
    row.flags.length ? row.flags.map((flag) => h('span', { class: 'flag', title: FLAGS[flag] }, flag)) : '–',
    h('time', { 'data-heard': Date.parse(row.last_at), datetime: row.last_at, title: moment(row.last_at) }),
  ];
  const shown = heads === HEADS ? cells.filter((_, index) => index !== 2) : cells;
  return h('tr', { 'data-session': row.session, class: row.standing }, shown.map((cell, index) =>
    h('td', { 'data-label': heads[index], class: side(heads[index]) }, cell)));
}

// As `OpenItem::line` says it: the first file, and how many more.
function inWords(item) {
  const [first, ...more] = item.files;
  return item.what + (first ? ': ' + folder(first) : '') + (more.length ? ', ' + more.length + ' more' : '');
}
