// What the daemon is asked.

class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

async function ask(path, options) {
  const response = await fetch(path, { cache: 'no-store', ...options });
  if (response.ok) return response;
  const text = await response.text();
  let said = text;
  try {
    said = JSON.parse(text).error ?? text;
  } catch { /* it is plain text */ }
  throw new Refused(response.status, said || 'the daemon refused (' + response.status + ')');
}

export const get = async (path) => (await ask(path)).json();

// Hands every line of an answer to `each`, `{"progress":[done,all]}` lines to `progress`.
export async function lines(path, each, { progress, body, signal } = {}) {
  const post = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await ask(path, { ...post, signal });
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

// Follows the journal: `changed` gets what has changed, `linked` whether the daemon can be heard.
export function follow(after, changed, linked) {
  const source = new EventSource('/api/live?after=' + after);
  source.onopen = () => linked(true);
  source.onmessage = (message) => changed(JSON.parse(message.data));
  source.onerror = () => linked(false, source.readyState === EventSource.CLOSED);
  return source;
}
