// Makes elements. Whatever an agent wrote enters the page here, and only as text.

const SVG = 'http://www.w3.org/2000/svg';

// Characters that are not seen, or that turn the writing direction, become visible: they could make one text look
// like another.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

export function printable(value) {
  return String(value).replace(UNSEEN, (c) => '\\u{' + c.codePointAt(0).toString(16) + '}');
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value') element.value = value;
    else element.setAttribute(name, value === true ? '' : printable(value));
  }
  append(element, children);
  return element;
}

export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(printable(child)));
  }
}

// A long text scrolls in its own box, which the keyboard must reach.
const reached = (tag, attributes) => (tag === 'pre' ? { tabindex: '0', ...attributes } : attributes);
export const h = (tag, attributes, ...children) => fill(document.createElement(tag), reached(tag, attributes), children);
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

const side = (numeric, index) => (numeric.includes(index) ? 'number' : null);
export const row = (cells, numeric = []) => h('tr', null, cells.map((value, index) => h('td', { class: side(numeric, index) }, value)));

// A table from column heads and rows of cells; a cell may be an element or a text. `numeric` names columns by place.
export function table(caption, heads, rows, numeric = []) {
  const head = h('tr', null, heads.map((text, index) => h('th', { scope: 'col', class: side(numeric, index) }, text)));
  const body = rows.map((cells) => row(cells, numeric));
  return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    h('table', null, h('caption', { class: 'unseen' }, caption), h('thead', null, head), h('tbody', null, body)));
}

export const link = (hash, text) => h('a', { href: '#/' + hash }, text);
// As the commands do: of a version 7, the first digits are the time.
export const shortId = (id) => id.slice(0, id[14] === '7' ? 13 : 8);
export const sessionLink = (id, text) => link('session/' + encodeURIComponent(id), text ?? shortId(id));
export const decisionLink = (seq) => link('decision/' + Number(seq), String(seq));
export const eventLink = (seq, text) => link('event/' + Number(seq), text ?? 'event ' + seq);
