// The swim lanes: a canvas with one lane for each kind of thing, an overview below, and a window onto both.
// Ten thousand events are drawn in a few milliseconds: what falls on the same point of a lane is drawn once.

import { duration, exact, time } from './format.js';
import { step } from './scale.js';

const LANES = [
  ['prompts', 'Prompts'], ['shell', 'Shell'], ['edits', 'Edits'], ['reads', 'Reads'], ['other', 'Other tools'],
  ['agent', 'Agent'], ['decisions', 'Decisions'], ['delivery', 'Delivery'],
];
const PLACE = new Map(LANES.map(([id], index) => [id, index]));
const LEFT = 86;
const TOP = 40;
const LANE = 31;
const MARK = 7;
const NEAR = 8;
const SPAN_MIN_MS = 20;
const NAMES = ['paper', 'panel', 'line', 'ink', 'soft', 'faint', 'accent', 'good', 'warn', 'bad', 'c7'];
// In the order in which they are drawn: what matters more stands above the others where they fall on one point.
const TONES = ['soft', 'ink', 'accent', 'tool', 'good', 'warn', 'bad'];

export class Lanes {
  constructor(chart, overview, pick) {
    Object.assign(this, { chart, overview, pick, items: [], turns: [], selected: null, from: 0, to: 1, scale: null });
    this.listen();
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(chart);
    this.restyle();
  }

  // `items` are {seq, lane, tone, bar, from, to} in order of `from`, `turns` {turn, from, to}, all in places of the scale.
  set(scale, items, turns) {
    const atEnd = this.scale === null || this.to >= this.scale.length;
    const whole = this.scale === null || (this.from <= 0 && atEnd);
    const grown = this.scale ? scale.length - this.scale.length : 0;
    Object.assign(this, { scale, items, turns, layers: TONES.map((tone) => layer(tone, items)) });
    if (whole) this.fit();
    else if (atEnd) this.look(this.from + grown, this.to + grown);
    else this.draw();
  }

  fit() {
    const room = Math.max(this.scale.length * 0.01, 50);
    this.look(-room, this.scale.length + room);
  }

  look(from, to) {
    const room = Math.max(this.scale.length * 0.02, 100);
    const span = Math.min(Math.max(to - from, SPAN_MIN_MS), this.scale.length + 2 * room);
    const start = Math.min(Math.max(from, -room), this.scale.length + room - span);
    this.from = start;
    this.to = start + span;
    this.draw();
  }

  // Zooms around a place that stays where it is.
  zoom(factor, around = (this.from + this.to) / 2) {
    this.look(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }

  pan(share) {
    const by = (this.to - this.from) * share;
    this.look(this.from + by, this.to + by);
  }

  select(seq) {
    this.selected = seq;
    const item = this.items.find((item) => item.seq === seq);
    if (item && (item.to < this.from || item.from > this.to)) {
      const half = (this.to - this.from) / 2;
      this.look(item.from - half, item.from + half);
    } else this.draw();
  }

  restyle() {
    const style = getComputedStyle(document.documentElement);
    this.colors = Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue('--' + name).trim()]));
    this.colors.tool = this.colors.accent;
    this.draw();
  }

  x(place) {
    return LEFT + ((place - this.from) / (this.to - this.from)) * (this.width - LEFT);
  }

  place(x) {
    return this.from + ((x - LEFT) / (this.width - LEFT)) * (this.to - this.from);
  }

  draw() {
    if (this.due || !this.scale) return;
    this.due = requestAnimationFrame(() => {
      this.due = 0;
      const began = performance.now();
      this.paint();
      this.paintOverview();
      this.took = performance.now() - began;
    });
  }

  paint() {
    const pen = prepare(this.chart);
    const { width, height } = pen;
    this.width = width;
    const { colors } = this;
    pen.rect(0, 0, width, height, colors.panel);
    this.paintTurns(pen, height);
    LANES.forEach(([, name], index) => {
      const y = TOP + index * LANE;
      pen.rect(LEFT, y + LANE - 1, width - LEFT, 1, colors.faint);
      pen.text(name, LEFT - 8, y + LANE / 2 + 4, colors.soft, 'right');
    });
    this.paintAxis(pen, width);
    this.layers.forEach((layer) => this.paintLayer(pen, layer));
    const selected = this.items.find((item) => item.seq === this.selected);
    if (selected) this.paintSelected(pen, selected, height);
    pen.rect(LEFT - 1, 0, 1, height, colors.line);
  }

  paintTurns(pen, height) {
    const { colors, width } = this;
    this.turns.forEach((turn, index) => {
      const from = Math.max(LEFT, this.x(turn.from));
      const to = Math.min(width, this.x(turn.to));
      if (to < from) return;
      if (index % 2 === 0) pen.rect(from, TOP, to - from, height - TOP, colors.faint);
      if (to - from > 22) pen.text((to - from > 60 ? 'turn ' : '') + turn.turn, from + 4, TOP - 5, colors.soft);
    });
    for (const [from, to, cut] of this.scale.breaks) {
      const [left, right] = [Math.max(LEFT, this.x(from)), this.x(to)];
      if (right < LEFT || left > width) continue;
      pen.rect(left, TOP, right - left, height - TOP, colors.panel);
      pen.dashes((left + right) / 2, TOP, height, colors.line);
      if (right - left > 44) pen.text(duration(cut), (left + right) / 2, height - 4, colors.soft, 'center');
    }
  }

  paintAxis(pen, width) {
    const { colors } = this;
    const span = this.to - this.from;
    const size = step(span, Math.max(2, (width - LEFT) / 110));
    const first = this.scale.time(this.from);
    // From a full second, minute or hour on, as a clock has them.
    const offset = ((first % size) + size) % size;
    for (let place = this.from - offset; place <= this.to; place += size) {
      const x = this.x(place);
      if (x < LEFT) continue;
      const at = this.scale.time(place);
      pen.rect(x, 18, 1, 4, colors.line);
      pen.text(size < 1000 ? exact(at) : time(at), x + 3, 14, colors.soft);
    }
  }

  // Of all that is in a layer only what can be seen is gone through.
  paintLayer(pen, { tone, items, rows, reach }) {
    const edge = new Float64Array(LANES.length).fill(-1);
    const color = this.colors[tone];
    const room = (MARK / (this.width - LEFT)) * (this.to - this.from);
    for (let index = firstFrom(reach, this.from - room); index < items.length; index += 1) {
      const item = items[index];
      if (item.from > this.to + room) break;
      const right = this.x(item.to);
      const row = rows[index];
      // Nothing to be seen beside what is there already.
      if (right < LEFT - MARK || right < edge[row] + 0.75) continue;
      edge[row] = right;
      const left = this.x(item.from);
      const y = TOP + row * LANE + LANE / 2;
      if (item.bar || right - left >= 2) {
        const from = Math.max(LEFT, left);
        pen.rect(from, y - 8, Math.max(2, Math.min(this.width, right) - from), 16, color);
      } else if (left >= LEFT) pen.diamond(left, y, tone === 'soft' ? MARK - 3 : MARK - 1, color);
    }
  }

  paintSelected(pen, item, height) {
    const x = Math.max(LEFT, this.x(item.from));
    pen.rect(x - 0.5, TOP - 14, 1, height - TOP + 14, this.colors.ink);
    const y = TOP + PLACE.get(item.lane) * LANE + LANE / 2;
    pen.frame(x - 5, y - 11, Math.max(10, this.x(item.to) - x + 10), 22, this.colors.ink);
  }

  paintOverview() {
    const pen = prepare(this.overview);
    const { width, height } = pen;
    const { colors, scale } = this;
    pen.rect(0, 0, width, height, colors.panel);
    const share = (place) => LEFT + (place / (scale.length || 1)) * (width - LEFT);
    const counts = new Uint16Array(width + 1);
    for (const item of this.items) counts[Math.min(width, Math.max(0, Math.round(share(item.from))))] += 1;
    const most = Math.max(1, ...counts);
    counts.forEach((count, x) => {
      if (count) pen.rect(x, height - 3 - (Math.sqrt(count / most) * (height - 8)), 1, 99, colors.c7);
    });
    const left = Math.max(LEFT, share(this.from));
    pen.frame(left + 1, 2, Math.max(4, Math.min(width, share(this.to)) - left - 2), height - 4, colors.accent);
    pen.text('All', LEFT - 8, height / 2 + 4, colors.soft, 'right');
  }

  // The item at a point of the canvas, or the nearest one in its lane.
  at(x, y) {
    const row = LANES[Math.floor((y - TOP) / LANE)]?.[0];
    let best = null;
    let least = NEAR;
    for (const item of this.items) {
      if (item.lane !== row) continue;
      const [left, right] = [this.x(item.from), this.x(item.to)];
      const away = x < left ? left - x : x > right ? x - right : 0;
      const matters = best && TONES.indexOf(item.tone) > TONES.indexOf(best.tone);
      if (away < least || (away === least && matters)) [best, least] = [item, away];
    }
    return best;
  }

  listen() {
    const { chart, overview } = this;
    let drag = null;
    chart.addEventListener('pointerdown', (event) => {
      drag = { x: event.offsetX, from: this.from, to: this.to, moved: false };
      chart.setPointerCapture(event.pointerId);
    });
    chart.addEventListener('pointermove', (event) => {
      if (!drag) {
        chart.style.cursor = this.scale && this.at(event.offsetX, event.offsetY) ? 'pointer' : '';
        return;
      }
      const by = event.offsetX - drag.x;
      drag.moved ||= Math.abs(by) > 3;
      const share = (by / (this.width - LEFT)) * (drag.to - drag.from);
      if (drag.moved) this.look(drag.from - share, drag.to - share);
    });
    const end = (event) => {
      const item = drag && !drag.moved && event.type === 'pointerup' && this.at(event.offsetX, event.offsetY);
      drag = null;
      if (item) this.pick(item.seq);
    };
    chart.addEventListener('pointerup', end);
    chart.addEventListener('pointercancel', end);
    chart.addEventListener('dblclick', (event) => this.zoom(0.4, this.place(event.offsetX)));
    chart.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    const jump = (event) => {
      if (event.type === 'pointermove' && !event.buttons) return;
      const share = (event.offsetX - LEFT) / (overview.clientWidth - LEFT);
      const half = (this.to - this.from) / 2;
      this.look(share * this.scale.length - half, share * this.scale.length + half);
    };
    overview.addEventListener('pointerdown', jump);
    overview.addEventListener('pointermove', jump);
  }

  // The page scrolls on where somebody only passes by: zooming takes Ctrl, or the focus.
  wheel(event) {
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
      event.preventDefault();
      this.pan((event.deltaX || event.deltaY) / 800);
    } else if (event.ctrlKey || document.activeElement === this.chart) {
      event.preventDefault();
      this.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 160), this.place(event.offsetX));
    }
  }

  leave() {
    this.observer.disconnect();
    cancelAnimationFrame(this.due);
  }
}

// The items of a tone, with the row of each and how far they reach up to each.
function layer(tone, all) {
  const items = all.filter((item) => item.tone === tone);
  let far = -Infinity;
  const reach = items.map((item) => { far = Math.max(far, item.to); return far; });
  return { tone, items, rows: items.map((item) => PLACE.get(item.lane)), reach };
}

// The place of the first of these, which never become smaller, that is not below a value.
function firstFrom(sorted, value) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function prepare(canvas) {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const to = canvas.getContext('2d');
  to.setTransform(ratio, 0, 0, ratio, 0, 0);
  to.font = '12px system-ui, sans-serif';
  return {
    width,
    height,
    rect(x, y, w, h, color) {
      to.fillStyle = color;
      to.fillRect(x, y, w, h);
    },
    text(text, x, y, color, align = 'left') {
      to.fillStyle = color;
      to.textAlign = align;
      to.fillText(text, x, y);
    },
    diamond(x, y, size, color) {
      to.fillStyle = color;
      to.beginPath();
      to.moveTo(x, y - size);
      to.lineTo(x + size, y);
      to.lineTo(x, y + size);
      to.lineTo(x - size, y);
      to.fill();
    },
    frame(x, y, w, h, color) {
      to.strokeStyle = color;
      to.lineWidth = 1.5;
      to.strokeRect(x, y, w, h);
    },
    dashes(x, from, till, color) {
      to.strokeStyle = color;
      to.lineWidth = 1;
      to.setLineDash([3, 3]);
      to.beginPath();
      to.moveTo(x, from);
      to.lineTo(x, till);
      to.stroke();
      to.setLineDash([]);
    },
  };
}
