// What the daemon is asked. Every request has the tab's key: cookies would go to every port of this machine.

class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

const KEY = 'key';
const OTHERS_MS = 200;

let key = sessionStorage.getItem(KEY);
let asked = null;
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

// Takes the token out of the address, and exchanges it for a key. Returns whether there was one.
export async function enter() {
  const token = /^#token=(\w*)$/.exec(location.hash)?.[1];
  if (token === undefined) return false;
  history.replaceState(null, '', location.pathname);
  const headers = { 'content-type': 'application/json' };
  const response = await fetch('/api/enter', { method: 'POST', headers, body: JSON.stringify({ token }), cache: 'no-store' });
  if (response.ok) keep((await response.json()).key);
  else if (!key) throw new Refused(response.status, await response.text());
  return true;
}

async function known() {
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
  const response = await fetch(path, { cache: 'no-store', ...options, headers });
  if (response.ok) return response;
  if (response.status === 403 && key === own) keep(null);
  const text = await response.text();
  let said = text;
  try {
    said = JSON.parse(text).error ?? text;
  } catch { /* it is plain text */ }
  throw new Refused(response.status, said || 'the daemon refused (' + response.status + ')');
}

export const get = async (path) => (await ask(path)).json();

// Hands every line of an answer to `each`, `{"progress":[done,all]}` lines to `progress`. `began` is told of the answer.
export async function lines(path, each, { progress, body, signal, began } = {}) {
  const post = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await ask(path, { ...post, signal });
  began?.();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  const take = (text) => {
    const line = JSON.parse(text);
    if (line.error?.kind) throw new Refused(404, line.error.text);
    if (Array.isArray(line.progress) && Object.keys(line).length === 1) progress?.(...line.progress);
    else each(line);
  };
  for (;;) {
    const { done, value } = await reader.read();
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
  const ended = () => { if (!stop.signal.aborted) linked(false); };
  lines('/api/live?after=' + after, changed, { signal: stop.signal, began: () => linked(true) }).then(ended, ended);
  return { close: () => stop.abort() };
}
