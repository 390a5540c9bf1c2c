// From time to place. Hours in which nobody did anything would leave no room for the seconds in which much happened, so
// long pauses are drawn short.

// A longer pause before a new turn is cut, and within one a much longer one; to this much.
const PAUSE_MS = 60000;
const LONG_MS = 900000;
const CUT_MS = 8000;

export class Scale {
  // `moments` are [time, turn] in order of time.
  constructor(moments, cuts) {
    this.times = [];
    this.places = [];
    this.breaks = [];
    let shift = 0;
    const origin = moments.length ? moments[0][0] : 0;
    const knot = (time) => {
      this.times.push(time);
      this.places.push(time - origin - shift);
    };
    if (moments.length) knot(origin);
    for (let index = 1; cuts && index < moments.length; index += 1) {
      const [before, turn] = moments[index - 1];
      const [after, next] = moments[index];
      if (after - before <= (turn === next ? LONG_MS : PAUSE_MS)) continue;
      knot(before);
      shift += after - before - CUT_MS;
      knot(after);
      this.breaks.push([this.place(before), this.place(after), after - before]);
    }
    if (moments.length) knot(moments[moments.length - 1][0]);
    this.length = this.places.length ? this.places[this.places.length - 1] : 0;
  }

  place(time) {
    return between(this.times, this.places, time);
  }

  time(place) {
    return between(this.places, this.times, place);
  }
}

// Goes straight on beyond both ends.
function between(from, to, value) {
  if (!from.length) return value;
  let low = 0;
  let high = from.length - 1;
  if (value <= from[0]) return to[0] + value - from[0];
  if (value >= from[high]) return to[high] + value - from[high];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (from[middle] <= value) low = middle;
    else high = middle;
  }
  const span = from[high] - from[low];
  return span ? to[low] + ((value - from[low]) / span) * (to[high] - to[low]) : to[low];
}

// Steps that a clock's face has, in milliseconds.
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3, 1800e3,
  3600e3, 7200e3, 14400e3, 43200e3, 86400e3];

export const step = (span, most) => STEPS.find((size) => span / size <= most) ?? Math.ceil(span / most / 86400e3) * 86400e3;
