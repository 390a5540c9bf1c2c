// What the daemon is asked. Every request has the tab's key: cookies would go to every port of this machine.
//
// While the daemon is away, anybody's program can answer on its port. So the key ends with the daemon, and the tab comes
// back by a secret that is in no request: both sides prove that they have it, the daemon first.

class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

// The daemon did not answer.
export class Away extends Error {
  constructor() {
    super('The daemon does not answer. This page goes on by itself when it does again.');
    this.status = 0;
  }
}

const KEY = 'key';
const TAB = 'tab';
const OTHERS_MS = 200;

let key = sessionStorage.getItem(KEY);
let tab = read(sessionStorage.getItem(TAB) ?? 'null');
let asked = null;
let told = null;
// The daemon did not answer the last request: another one may by now.
let away = false;
// Tabs of this origin, which has the port in it: a link that is opened in a new tab works there too.
const tabs = new BroadcastChannel(KEY);
tabs.onmessage = ({ data }) => {
  if (data.key && !key) {
    keep(data.key);
    asked?.();
  } else if (!data.key && key) tabs.postMessage({ key });
};

function keep(value) {
  key = value;
  if (value) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
}

// Numbers that JavaScript would round, such as digests, stay what they are: as texts.
function read(text) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g, (part) => (part[0] === '"' || Number.isSafeInteger(Number(part)) ? part : '"' + part + '"')));
}

function admit(entry) {
  keep(entry.key);
  tab = entry.tab;
  sessionStorage.setItem(TAB, JSON.stringify(tab));
}

async function reach(path, options) {
  try {
    const response = await fetch(path, { cache: 'no-store', ...options });
    return response;
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    away = true;
    throw new Away();
  }
}

const post = (body) => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

async function hash(text) {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

// Comes back to a daemon that was away. It says first what only the daemon that let this tab in, or its successor, knows.
async function resume() {
  if (tab) {
    const number = [...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    const said = await reach('/api/resume', post({ id: tab.id, number }));
    const theirs = said.ok ? read(await said.text()) : null;
    const proof = (who) => hash([tab.secret, who, number, theirs.number].join(' '));
    if (theirs && theirs.proof === await proof('daemon')) {
      const back = await reach('/api/resume', post({ id: tab.id, proof: await proof('tab') }));
      if (back.ok) {
        const entry = read(await back.text());
        admit(entry);
        away = false;
        if (entry.restarted) told?.();
        return;
      }
    }
    tab = null;
    sessionStorage.removeItem(TAB);
  }
  keep(null);
  away = false;
}

// Has it told when the daemon was restarted.
export function onRestart(tell) {
  told = tell;
}

// Takes the token out of the address, and exchanges it for a key. Returns whether there was one.
export async function enter() {
  const token = /^#token=(\w*)$/.exec(location.hash)?.[1];
  if (token === undefined) return false;
  history.replaceState(null, '', location.pathname);
  const response = await reach('/api/enter', post({ token }));
  if (response.ok) {
    admit(read(await response.text()));
    away = false;
  }
  else if (!key) throw new Refused(response.status, await response.text());
  return true;
}

let resuming = null;

async function known() {
  if (away) {
    resuming ??= resume().finally(() => { resuming = null; });
    await resuming;
  }
  if (key) return key;
  await new Promise((done) => {
    asked = done;
    tabs.postMessage({});
    setTimeout(done, OTHERS_MS);
  });
  return key;
}

async function ask(path, options = {}) {
  const own = await known();
  const headers = { ...options.headers, ...(own && { authorization: 'Bearer ' + own }) };
  const response = await reach(path, { ...options, headers });
  if (response.ok) return response;
  if (response.status === 403 && key === own) keep(null);
  const text = await response.text();
  let said = text;
  try {
    said = JSON.parse(text).error ?? text;
  } catch { /* it is plain text */ }
  throw new Refused(response.status, said || 'the daemon refused (' + response.status + ')');
}

// Asks for one thing to be done.
export const send = async (path, body) => read(await (await ask(path, post(body))).text());

export const get = async (path, options) => read(await (await ask(path, options)).text());

// Hands every line of an answer to `each`, `{"progress":[done,all]}` lines to `progress`. `began` is told of the answer.
export async function lines(path, each, { progress, body, signal, began } = {}) {
  const response = await ask(path, { ...(body && post(body)), signal });
  began?.();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  const take = (text) => {
    const line = read(text);
    if (line.error?.kind) throw new Refused(404, line.error.text);
    if (Array.isArray(line.progress) && Object.keys(line).length === 1) progress?.(...line.progress);
    else each(line);
  };
  for (;;) {
    const { done, value } = await reader.read().catch((error) => {
      if (error.name === 'AbortError') throw error;
      away = true;
      throw new Away();
    });
    if (done) break;
    const parts = (rest + value).split('\n');
    rest = parts.pop();
    parts.filter(Boolean).forEach(take);
  }
  if (rest) take(rest);
}

export async function one(path, options) {
  let answer = null;
  await lines(path, (line) => { answer = line; }, options);
  return answer;
}

// Follows the journal: `changed` gets what has changed, `linked` whether the daemon can be heard; false is the end.
export function follow(after, changed, linked) {
  const stop = new AbortController();
  const ended = () => {
    if (stop.signal.aborted) return;
    // The daemon ends this answer only with itself.
    away = true;
    linked(false);
  };
  lines('/api/live?after=' + after, changed, { signal: stop.signal, began: () => linked(true) }).then(ended, ended);
  return { close: () => stop.abort() };
}
